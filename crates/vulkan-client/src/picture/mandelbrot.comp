#version 450
// The Mandelbrot set. Compiled by `glslangValidator -V mandelbrot.comp -o mandelbrot.spv`.

layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) writeonly buffer Picture { uint texels[]; };

const uvec2 SIZE = uvec2(640, 400);
const uint MOST = 256u;

void main() {
    uvec2 place = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(place, SIZE))) {
        return;
    }
    vec2 c = (vec2(place) - vec2(SIZE) * vec2(0.7, 0.5)) * (2.5 / float(SIZE.y));
    vec2 z = vec2(0.0);
    uint count = 0u;
    while (count < MOST && dot(z, z) < 64.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        count++;
    }
    vec3 color = vec3(0.0);
    if (count < MOST) {
        float smoothed = float(count) - log2(log2(dot(z, z)) * 0.5);
        color = 0.5 - 0.5 * cos(0.12 * smoothed + vec3(0.2, 0.7, 1.2));
    }
    texels[place.y * SIZE.x + place.x] = packUnorm4x8(vec4(color, 1.0));
}
