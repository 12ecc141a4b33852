//! Preambles and postambles of submissions.

use crate::cs::{CommandList, Target};

/// Lists that a queue puts around what is submitted to it: state that every submission needs, and what has to happen at
/// its end. Each is one IB, so that the number of IBs of a submission is known in advance.
///
/// | list                   | holds                                                                   | runs                                            |
/// |------------------------|-------------------------------------------------------------------------|-------------------------------------------------|
/// | `initial_full_flush`   | state, a wait for shaders, an invalidation of all caches                | first of a submission that waits for something  |
/// | `initial`              | state, an invalidation of the caches                                    | first of any other                              |
/// | `further`              | state                                                                   | first of each further kernel submission of it   |
/// | `postamble`            | a wait for shaders and a write-back of L2; needed on GFX6 only          | last of each kernel submission                  |
///
/// The copy engine needs none. Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_update_preamble_cs`, and
/// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`.
#[derive(Clone, Debug, Default)]
pub struct Preambles {
    initial_full_flush: Option<CommandList>,
    initial: Option<CommandList>,
    further: Option<CommandList>,
    postamble: Option<CommandList>,
}

/// A list that is no preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOneIb {
    /// It has grown.
    #[error("a preamble is one IB, this list has {ibs}")]
    Ibs {
        /// Its IBs.
        ibs: usize,
    },
    /// It is for another ring than the other preambles.
    #[error("a preamble for {target} among those for {others}")]
    OtherRing {
        /// Its ring.
        target: Target,
        /// That of the others.
        others: Target,
    },
}

impl Preambles {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these lists at the beginning of a submission: `full_flush` of one that waits for something, `plain` of any
    /// other.
    ///
    /// # Errors
    ///
    /// [`NotOneIb`].
    pub fn with_initial(self, full_flush: CommandList, plain: CommandList) -> Result<Self, NotOneIb> {
        self.check(&full_flush)?;
        let with_one = Self { initial_full_flush: Some(full_flush), ..self };
        with_one.check(&plain)?;
        Ok(Self { initial: Some(plain), ..with_one })
    }

    /// With this list at the beginning of each further kernel submission that a submission needs.
    ///
    /// # Errors
    ///
    /// [`NotOneIb`].
    pub fn with_further(self, list: CommandList) -> Result<Self, NotOneIb> {
        self.check(&list)?;
        Ok(Self { further: Some(list), ..self })
    }

    /// With this list at the end of each kernel submission.
    ///
    /// # Errors
    ///
    /// [`NotOneIb`].
    pub fn with_postamble(self, list: CommandList) -> Result<Self, NotOneIb> {
        self.check(&list)?;
        Ok(Self { postamble: Some(list), ..self })
    }

    fn check(&self, list: &CommandList) -> Result<(), NotOneIb> {
        let ibs = list.ibs().count();
        if ibs != 1 {
            return Err(NotOneIb::Ibs { ibs });
        }
        match self.lists().map(CommandList::target).find(|&others| others != list.target()) {
            Some(others) => Err(NotOneIb::OtherRing { target: list.target(), others }),
            None => Ok(()),
        }
    }

    /// All there are.
    pub fn lists(&self) -> impl Iterator<Item = &CommandList> {
        [&self.initial_full_flush, &self.initial, &self.further, &self.postamble].into_iter().flatten()
    }

    /// Returns the list that runs first in the kernel submission number `part`, from 0, of a submission that waits for
    /// something or not.
    pub fn before(&self, part: usize, waits: bool) -> Option<&CommandList> {
        match (part, waits) {
            (0, true) => self.initial_full_flush.as_ref(),
            (0, false) => self.initial.as_ref(),
            _ => self.further.as_ref(),
        }
    }

    /// Returns the list that runs last in each kernel submission.
    pub fn after(&self) -> Option<&CommandList> {
        self.postamble.as_ref()
    }

    /// The most IBs that it adds to one kernel submission.
    pub fn most_ibs(&self) -> usize {
        let has_first = self.initial_full_flush.is_some() || self.initial.is_some() || self.further.is_some();
        usize::from(has_first) + usize::from(self.postamble.is_some())
    }
}
