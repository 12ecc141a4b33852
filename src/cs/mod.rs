//! cs
