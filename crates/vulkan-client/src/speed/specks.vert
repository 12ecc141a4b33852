#version 450
// Triangles between the centres of pixels of a target of 1280x720, which are computed and cover nothing. Compiled by
// `glslangValidator -V specks.vert -o specks_vert.spv`.

layout(location = 0) out vec4 colour;

void main() {
    int number = gl_VertexIndex / 3, corner = gl_VertexIndex % 3;
    vec2 pixel = vec2(number % 1280, number / 1280) + 0.1 + vec2(corner == 1 ? 0.2 : 0.0, corner == 2 ? 0.2 : 0.0);
    gl_Position = vec4(pixel / vec2(640.0, 360.0) - 1.0, 0.5, 1.0);
    colour = vec4(1.0);
}
