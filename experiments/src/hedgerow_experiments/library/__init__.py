"""Every estimator of the library on every data set."""
