//! Launches the kernels on a GPU or on the simulator and checks them.
