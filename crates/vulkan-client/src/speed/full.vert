#version 450
// A triangle that covers the target, with a colour that changes over it. Compiled by `glslangValidator -V full.vert -o full_vert.spv`.

layout(location = 0) out vec4 colour;

void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0;
    gl_Position = vec4(corner * 2.0 - 1.0, 0.5, 1.0);
    colour = vec4(corner, 1.0 - corner.x, 1.0);
}
