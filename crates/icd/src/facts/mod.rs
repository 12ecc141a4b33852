//! Answers to queries of a physical device. Each is a function of the GPU.

pub(crate) mod extensions;
pub(crate) mod external;
pub(crate) mod features;
pub(crate) mod formats;
pub(crate) mod heaps;
pub(crate) mod images;
mod indexing;
pub(crate) mod limits;
pub(crate) mod properties;
pub(crate) mod queue_families;

/// Fills in the known structures of a chain.
macro_rules! fill_chain {
    ($head:expr; $($Structure:ident { $($field:ident: $value:expr),* $(,)? })*) => {$(
        if let Some(out) = $crate::border::chain::find_mut::<ash::vk::$Structure<'_>>($head) {
            $(out.$field = $value;)*
        }
    )*};
}

pub(crate) use fill_chain;
