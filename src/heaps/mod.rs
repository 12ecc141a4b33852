//! heaps
