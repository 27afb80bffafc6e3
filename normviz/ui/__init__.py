"""How does a person's browser meet the package? The only code that imports streamlit."""
