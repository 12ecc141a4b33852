//! Parts of primitives on the screen: from vertices in homogeneous coordinates to areas, lines and points.

use smallvec::SmallVec;

use crate::execute::{
    cover::bias,
    cover::setup::{Area, MOST, ScreenCorner, Values, snapped},
    cover::thin::{Line, Point},
    geometry::clip::{self, Corner, Distances, Polygon},
};
use crate::{DrawMutation, DrawState, FrontEnd, PolygonMode, Rectangle, Topology, Viewport};

/// A part of a primitive on the screen.
#[derive(Debug)]
pub(in crate::execute) enum Shape {
    Area(Area),
    Line(Line),
    Point(Point),
}

/// Parts of a primitive, and whether each faces the viewer. Most primitives have one.
pub(in crate::execute) type Shapes = SmallVec<[(Shape, bool); 1]>;

impl Shape {
    pub(in crate::execute) fn bounds(&self) -> Rectangle {
        match self {
            Self::Area(area) => area.bounds(),
            Self::Line(line) => line.bounds(),
            Self::Point(point) => point.bounds(),
        }
    }

    /// Returns `true` if a place in a pixel is covered, in sixteenths of a pixel from the centre.
    pub(in crate::execute) fn covers(&self, pixel: [i32; 2], place: [i8; 2]) -> bool {
        match self {
            Self::Area(area) => area.covers(pixel, place),
            Self::Line(line) => line.covers(pixel[0], pixel[1]),
            Self::Point(point) => point.covers(pixel, place),
        }
    }

    /// Returns the values at a place in a pixel.
    pub(in crate::execute) fn values(&self, pixel: [i32; 2], place: [i8; 2]) -> Values {
        match self {
            Self::Area(area) => area.values(pixel, place),
            Self::Line(line) => line.values(pixel[0], pixel[1]),
            Self::Point(point) => point.values(pixel, place),
        }
    }
}

/// The vertices of a primitive.
pub(in crate::execute) struct Vertices {
    pub(in crate::execute) positions: [[f32; 4]; 3],
    pub(in crate::execute) distances: Distances,
    /// The size of a point that the first vertex exports.
    pub(in crate::execute) point_size: Option<f32>,
}

/// Makes shapes of the primitives of a draw.
pub(in crate::execute) struct Shaper<'d> {
    pub(in crate::execute) state: &'d DrawState,
    pub(in crate::execute) viewport: Viewport,
}

impl Shaper<'_> {
    /// Returns the parts of a primitive that are on the screen, and whether they face the viewer.
    pub(in crate::execute) fn shapes(&self, vertices: &Vertices) -> Shapes {
        let (geometry, outputs) = (&self.state.geometry, &self.state.outputs);
        let exports_rectangles = matches!(self.state.front_end, FrontEnd::Ngg { .. }) && geometry.exports_rectangles;
        let is_rectangle = self.state.topology == Topology::Rectangles || exports_rectangles;
        if !is_rectangle && clip::is_culled(outputs, &vertices.distances) {
            return Shapes::new();
        }
        match self.state.topology {
            Topology::Points => self.point(vertices, 0, false).into_iter().map(|shape| (shape, true)).collect(),
            Topology::Lines | Topology::LineStrip => {
                self.line(vertices, [0, 1]).into_iter().map(|shape| (shape, true)).collect()
            }
            _ => self.areas(vertices, is_rectangle),
        }
    }

    fn areas(&self, vertices: &Vertices, is_rectangle: bool) -> Shapes {
        let (geometry, outputs) = (&self.state.geometry, &self.state.outputs);
        let polygon: Polygon = if is_rectangle {
            clip::whole(vertices.positions)
        } else {
            clip::clip(&geometry.clip, outputs, vertices.positions, &vertices.distances)
        };
        let corners: SmallVec<[ScreenCorner; 4]> = polygon
            .iter()
            .map(|corner| {
                let place = self.screen(corner, vertices);
                let is_vertex = corner.shares.contains(&1.0);
                if is_vertex { place } else { self.replaced(&place, vertices).unwrap_or(place) }
            })
            .collect();
        let mut shapes = Shapes::new();
        for index in 2..corners.len() {
            let three = [corners[0], corners[index - 1], corners[index]];
            let Some(mut area) = Area::new(three, geometry.fraction_bits, is_rectangle) else { continue };
            let is_front = is_rectangle || area.is_clockwise() == geometry.front_is_clockwise;
            let is_culled = if is_front { geometry.culls_front } else { geometry.culls_back };
            if is_culled && !is_rectangle {
                continue;
            }
            area.has_wrong_edges = self.state.mutation == Some(DrawMutation::WrongEdge);
            area.bias = bias::of(&geometry.depth_bias, &area, is_front);
            let mode = geometry.polygon_modes[usize::from(!is_front)];
            if is_rectangle || mode == PolygonMode::Fill {
                shapes.push((Shape::Area(area), is_front));
                continue;
            }
            // Edges and corners are those of the whole triangle, which are clipped as lines and points.
            let biased = |shape: Shape| match shape {
                Shape::Line(line) => Shape::Line(Line { bias: area.bias, ..line }),
                Shape::Point(point) => Shape::Point(Point { bias: area.bias, ..point }),
                Shape::Area(mut edge) => {
                    edge.bias = area.bias;
                    Shape::Area(edge)
                }
            };
            let parts: Vec<Shape> = if mode == PolygonMode::Lines {
                [[0, 1], [1, 2], [2, 0]].into_iter().flat_map(|ends| self.line(vertices, ends)).collect()
            } else {
                (0..3).filter_map(|vertex| self.point(vertices, vertex, true)).collect()
            };
            shapes.extend(parts.into_iter().map(|shape| (biased(shape), is_front)));
            break;
        }
        shapes
    }

    /// Returns the ends of a line or a point between two vertices, clipped; the shares are those of the primitive's vertices.
    fn ends(&self, vertices: &Vertices, [a, b]: [usize; 2], is_point: bool) -> Option<[ScreenCorner; 2]> {
        let positions = [vertices.positions[a], vertices.positions[b]];
        let distances = [vertices.distances[a], vertices.distances[b], [0.0; 8]];
        let (geometry, outputs) = (&self.state.geometry, &self.state.outputs);
        let ends = clip::clip_thin(&geometry.clip, outputs, positions, &distances, is_point)?;
        Some(ends.map(|end| {
            let mut shares = [0.0; 3];
            shares[a] += end.shares[0];
            shares[b] += end.shares[1];
            self.screen(&Corner { shares, ..end }, vertices)
        }))
    }

    fn point(&self, vertices: &Vertices, vertex: usize, is_corner: bool) -> Option<Shape> {
        let geometry = &self.state.geometry;
        let [centre, _] = self.ends(vertices, [vertex; 2], true)?;
        let size = vertices.point_size.map_or(geometry.point_size, |size| [size; 2]);
        let [least, most] = geometry.point_range;
        let size = size.map(|size| f64::from(size.max(least).min(most)));
        Some(Shape::Point(Point { centre, size, bits: geometry.fraction_bits, is_corner, bias: 0.0 }))
    }

    /// Returns the shapes of a line: itself, or two triangles that make a rectangle around it.
    fn line(&self, vertices: &Vertices, ends: [usize; 2]) -> Vec<Shape> {
        let geometry = &self.state.geometry;
        let Some(ends) = self.ends(vertices, ends, false) else { return Vec::new() };
        let bits = geometry.fraction_bits;
        let width = f64::from(geometry.line_width);
        if self.state.samples == 1 && !geometry.lines_are_rectangles {
            let width = width.round().clamp(1.0, 8192.0) as i32;
            let mut line = Line { ends, bits, width, bias: 0.0, stipple: None };
            if let Some(pattern) = geometry.line_stipple {
                line.stipple(pattern, 0);
            }
            return vec![Shape::Line(line)];
        }
        // As for triangles, what is too far away covers nothing.
        let is_far = |end: &ScreenCorner| end.x.unsigned_abs() > MOST || end.y.unsigned_abs() > MOST;
        if ends.iter().any(is_far) {
            return Vec::new();
        }
        let [dx, dy] = [ends[1].x - ends[0].x, ends[1].y - ends[0].y].map(|length| length as f64);
        let length = dx.hypot(dy);
        if length == 0.0 {
            return Vec::new();
        }
        let half = width / 2.0 * f64::from(1_u32 << bits) / length;
        let side = |end: &ScreenCorner, sign: f64| ScreenCorner {
            x: end.x.saturating_add((sign * -dy * half).round_ties_even() as i64),
            y: end.y.saturating_add((sign * dx * half).round_ties_even() as i64),
            ..*end
        };
        let corners = [side(&ends[0], 1.0), side(&ends[1], 1.0), side(&ends[1], -1.0), side(&ends[0], -1.0)];
        [[0, 1, 2], [0, 2, 3]]
            .into_iter()
            .filter_map(|three| Area::new(three.map(|index: usize| corners[index]), bits, false))
            .map(Shape::Area)
            .collect()
    }

    /// Returns a corner that clipping has made with the values that the triangle has where the corner is snapped to, so that clipping does
    /// not tilt what is interpolated; `None` if the triangle is seen edge-on or the place is behind the viewer.
    fn replaced(&self, corner: &ScreenCorner, vertices: &Vertices) -> Option<ScreenCorner> {
        let (geometry, viewport) = (&self.state.geometry, &self.viewport);
        let unit = f64::from(1_u32 << geometry.fraction_bits);
        let half = if geometry.centre_is_half { 0.0 } else { 0.5 };
        let [x, y] = [corner.x, corner.y].map(|at| at as f64 / unit - half);
        let [x, y] = [(x, 0), (y, 1)]
            .map(|(at, axis): (f64, usize)| (at - f64::from(viewport.offset[axis])) / f64::from(viewport.scale[axis]));
        // The shares of the vertices, each divided by w, are those whose sum of the vertices' x, y and w is x, y and 1.
        let [a, b, c] = vertices.positions.map(|position| [0, 1, 3].map(|axis: usize| f64::from(position[axis])));
        let normals = [cross(b, c), cross(c, a), cross(a, b)];
        let volume = dot(a, normals[0]);
        let parts = normals.map(|normal| dot([x, y, 1.0], normal) / volume);
        let inverse_w: f64 = parts.iter().sum();
        let sum = |axis: usize| -> f64 {
            parts.iter().zip(&vertices.positions).map(|(part, position)| part * f64::from(position[axis])).sum()
        };
        (inverse_w > 0.0 && inverse_w.is_finite()).then(|| ScreenCorner {
            z: sum(2) * f64::from(viewport.scale[2]) + f64::from(viewport.offset[2]),
            inverse_w,
            shares: parts.map(|part| part / inverse_w),
            linear: [0, 1, 2].map(|vertex: usize| parts[vertex] * f64::from(vertices.positions[vertex][3])),
            ..*corner
        })
    }

    fn screen(&self, corner: &Corner, vertices: &Vertices) -> ScreenCorner {
        let (geometry, viewport) = (&self.state.geometry, &self.viewport);
        let w = corner.position[3];
        let inverse = 1.0 / w as f32;
        let at = |axis: usize| (corner.position[axis] as f32 * inverse) * viewport.scale[axis] + viewport.offset[axis];
        let snap = |value| snapped(value, geometry.fraction_bits, geometry.rounding, geometry.centre_is_half);
        let weight = |vertex: usize| f64::from(vertices.positions[vertex][3]);
        ScreenCorner {
            x: snap(at(0)),
            y: snap(at(1)),
            z: f64::from(at(2)),
            inverse_w: 1.0 / w,
            shares: corner.shares,
            linear: [0, 1, 2].map(|vertex: usize| corner.shares[vertex] * weight(vertex) / w),
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
