"""Load: ``python -m tests.load``. Many visitors at once, on kvviz and on a bare Streamlit app drawn alike."""
