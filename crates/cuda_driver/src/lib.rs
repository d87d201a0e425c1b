//! Loads the CUDA driver at run time, where there is one.
