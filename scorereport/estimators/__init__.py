"""Parts for scikit-learn, which is loaded when one of them is used."""
