//! Multiplications of matrices (WMMA of GFX11, WMMA and SWMMAC of GFX12): the elements that registers hold, and their products.

pub(crate) mod decode;
mod element;
mod layout;
pub(crate) mod op;
mod product;

pub(crate) use decode::Product;
pub(crate) use element::Element;
