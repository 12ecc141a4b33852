//! The flags of GEM_CREATE.
//!
//! Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_object.c`.

use amdgpu_uapi::GemCreateFlags;

/// The flags that user space may pass to GEM_CREATE.
pub(super) const ACCEPTED: GemCreateFlags = GemCreateFlags::CPU_ACCESS_REQUIRED
    .union(GemCreateFlags::NO_CPU_ACCESS)
    .union(GemCreateFlags::CPU_GTT_USWC)
    .union(GemCreateFlags::VRAM_CLEARED)
    .union(GemCreateFlags::VM_ALWAYS_VALID)
    .union(GemCreateFlags::EXPLICIT_SYNC)
    .union(GemCreateFlags::ENCRYPTED)
    .union(GemCreateFlags::GFX12_DCC)
    .union(GemCreateFlags::DISCARDABLE);

/// The flags that user space may pass to GEM_CREATE with [`Features::CACHE_FLAGS`](crate::features::Features::CACHE_FLAGS).
pub(super) const SETTABLE: GemCreateFlags = ACCEPTED
    .union(GemCreateFlags::VRAM_WIPE_ON_RELEASE)
    .union(GemCreateFlags::COHERENT)
    .union(GemCreateFlags::UNCACHED)
    .union(GemCreateFlags::EXT_COHERENT);

/// The flags that every BO has, even if not requested.
pub(super) const FORCED: GemCreateFlags = GemCreateFlags::VRAM_CLEARED.union(GemCreateFlags::VRAM_WIPE_ON_RELEASE);
