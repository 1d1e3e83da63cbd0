"""The aggregate trust model: nobody sees a record, only noisy sums leave two servers."""
