//! The bias of depth by the slope of triangles.

use crate::DepthBias;
use crate::execute::cover::setup::Area;

/// Returns what is added to the depths of a triangle.
///
/// Source: the Vulkan specification, "Depth Bias"; the factor's register has sixteen times the factor.
pub(in crate::execute) fn of(bias: &DepthBias, area: &Area, is_front: bool) -> f64 {
    let Some([scale, offset]) = (if is_front { bias.front } else { bias.back }) else { return 0.0 };
    let (slope, largest) = (area.slope(), area.largest_depth());
    let unit = if bias.is_float {
        // The unit of the last place of the largest depth.
        let exponent = if largest > 0.0 { largest.log2().floor() } else { -126.0 };
        (exponent + f64::from(bias.bits)).exp2()
    } else {
        f64::from(bias.bits).exp2()
    };
    let sum = slope * f64::from(scale) / 16.0 + unit * f64::from(offset);
    let limit = f64::from(bias.limit);
    if limit > 0.0 {
        sum.min(limit)
    } else if limit < 0.0 {
        sum.max(limit)
    } else {
        sum
    }
}
