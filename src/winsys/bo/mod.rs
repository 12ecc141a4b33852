//! Buffer objects.

mod block;
mod bo;
mod foreign;
mod handle;
mod metadata;
mod request;
mod rule_error;
mod rules;
mod share;
mod shared_handles;
mod tiling;
mod userptr;

pub(crate) use self::bo::NewBo;
pub(super) use self::{block::Block, shared_handles::SharedHandles};
pub use self::{
    block::Bo,
    bo::BoCreateInfo,
    metadata::{BoMetadata, BoWords},
    request::BoRequest,
    rule_error::BoRuleError,
    share::Origin,
    tiling::{Gfx12Tiling, LegacyTiling, SwizzleTiling, Tiling, TilingFieldError},
    userptr::UserMemory,
};
