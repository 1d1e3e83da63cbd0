"""RPWithPrior: label differential privacy in regression."""
