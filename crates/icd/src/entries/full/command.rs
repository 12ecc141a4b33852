//! Commands for shaders, attachments and blits. Commands that only change unused state do nothing; commands with a visible effect
//! are refused.
#![expect(clippy::too_many_arguments, reason = "Vulkan's")]

use crate::{border::Ignored, objects::CommandBuffer};

/// Declares commands that do nothing, with the number of their arguments.
macro_rules! nothing {
    ($($name:ident: $($argument:ident)*;)*) => {$(
        #[doc = concat!("Does nothing with arguments `", stringify!($($argument)*), "`.")]
        pub(crate) fn $name(_: &CommandBuffer $(, $argument: Ignored)*) {
            $(let Ignored = $argument;)*
        }
    )*};
}

nothing! {
    one:;
    two: a;
    three: a b;
    four: a b c;
    five: a b c d;
    six: a b c d e;
    seven: a b c d e f;
    eight: a b c d e f g;
}

/// Declares commands that are refused: vkEndCommandBuffer fails, and a message states the reason.
macro_rules! refused {
    ($($name:ident($($argument:ident)*): $command:literal, $reason:literal;)*) => {$(
        #[doc = concat!("Refuses `", $command, "`: ", $reason, ".")]
        pub(crate) fn $name(this: &CommandBuffer $(, $argument: Ignored)*) {
            $(let Ignored = $argument;)*
            this.refuse($command, $reason);
        }
    )*};
}

refused! {
    draw(a b c d): "vkCmdDraw", "there are no pipelines";
    draw_indexed(a b c d e): "vkCmdDrawIndexed", "there are no pipelines";
    draw_indirect(a b c d): "vkCmdDrawIndirect", "there are no pipelines";
    draw_indexed_indirect(a b c d): "vkCmdDrawIndexedIndirect", "there are no pipelines";
    draw_indirect_count(a b c d e f): "vkCmdDrawIndirectCount", "there are no pipelines";
    draw_indexed_indirect_count(a b c d e f): "vkCmdDrawIndexedIndirectCount", "there are no pipelines";
    dispatch(a b c): "vkCmdDispatch", "there are no pipelines";
    dispatch_base(a b c d e f): "vkCmdDispatchBase", "there are no pipelines";
    dispatch_indirect(a b): "vkCmdDispatchIndirect", "there are no pipelines";
    blit(a b c d e f g): "vkCmdBlitImage", "no format has blits";
    blit2(a): "vkCmdBlitImage2", "no format has blits";
    resolve(a b c d e f): "vkCmdResolveImage", "no image has several samples";
    resolve2(a): "vkCmdResolveImage2", "no image has several samples";
    clear_depth(a b c d e): "vkCmdClearDepthStencilImage", "no image has depth or stencil";
    begin_query(a b c): "vkCmdBeginQuery", "queries are timestamps";
    end_query(a b): "vkCmdEndQuery", "queries are timestamps";
}
