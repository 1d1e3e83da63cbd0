"""All trust models on one's own records: what ``hedgerow compare`` runs and writes."""
