#version 450
// Some twenty instructions on an interpolated colour. Compiled by `glslangValidator -V pass.frag -o pass_frag.spv`.

layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 result;

void main() {
    vec4 sum = colour;
    sum = sum * sum.yzwx + colour;
    sum = sum * sum.yzwx + colour;
    sum = sum * sum.yzwx + colour;
    result = fract(sum);
}
