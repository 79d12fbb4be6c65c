"""What a hostile or unlucky visitor sends, made up from seeds, and what must then hold. ``python -m tests.fuzz``.

Each kind is one function of a seed: it makes a case, hands it to kvviz, and returns in a word what came of it. What it
may raise is a ``FaultError``, or what kvviz raised and should not have.
"""
