"""What is the least that Streamlit itself costs? A page with a title, a slider and a sentence."""

from __future__ import annotations

import streamlit as st

st.title("A bare page")
value = st.slider("Value", 0, 100, 50, key="value")
st.write(f"The value is {value}.")
