from kvviz.text.base import Text
NOT_IN_ORDER=OUT_OF_BOUNDS=NO_GROUP=BLOCK_OVER_POOL=CACHING_OR_WINDOWS=Text(en="x",ja="x")
