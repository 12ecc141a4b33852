//! uapi
