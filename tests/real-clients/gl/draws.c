/*
 * A client of OpenGL ES without a window, whose steps depend on each other through every cache that a driver has to flush or to
 * invalidate: buffers that one dispatch writes and the next reads, arguments, indices and vertices that the GPU writes, rendered pictures
 * that are sampled, depth, stencil, several samples, levels, images, queries and copies to and from buffers.
 *
 * It prints the GPU and a checksum of what each step leaves, and ends with 1 after an error of OpenGL. The checksums are the same in
 * every mode of the strict mode, and with every order of what may run at once. With the name of a file as argument it also writes the
 * pictures there, one after the other, 4 bytes a pixel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>

enum { SIDE = 64, COUNT = 4096 };

static int failed;
static FILE *pictures_file;

static void tell(const char *step, const void *data, size_t size)
{
    unsigned sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const unsigned char *)data)[i]) * 16777619u;
    const GLenum error = glGetError();
    printf("%-10s %08x\n", step, sum);
    if (error != GL_NO_ERROR) {
        printf("%s: error %#x\n", step, error);
        failed = 1;
    }
}

static void tell_buffer(const char *step, GLenum target, size_t size)
{
    const void *data = glMapBufferRange(target, 0, size, GL_MAP_READ_BIT);
    if (data)
        tell(step, data, size);
    else
        failed = printf("%s: no mapping\n", step);
    glUnmapBuffer(target);
}

static void tell_picture(const char *step)
{
    static unsigned char pixels[SIDE * SIDE * 4];
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    tell(step, pixels, sizeof pixels);
    if (pictures_file && fwrite(pixels, sizeof pixels, 1, pictures_file) != 1)
        failed = printf("%s: the picture cannot be written\n", step);
}

static GLuint stage(GLenum kind, const char *body)
{
    const char *texts[] = { "#version 310 es\nprecision highp float;\nprecision highp int;\nprecision highp image2D;\n", body };
    GLuint shader = glCreateShader(kind);
    GLint is_right = 0;
    glShaderSource(shader, 2, texts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &is_right);
    if (!is_right) {
        char log[2048] = "";
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        printf("shader: %s\n", log);
        exit(1);
    }
    return shader;
}

static GLuint program(const char *vertex, const char *fragment)
{
    GLuint made = glCreateProgram();
    GLint is_right = 0;
    glAttachShader(made, stage(fragment ? GL_VERTEX_SHADER : GL_COMPUTE_SHADER, vertex));
    if (fragment)
        glAttachShader(made, stage(GL_FRAGMENT_SHADER, fragment));
    glLinkProgram(made);
    glGetProgramiv(made, GL_LINK_STATUS, &is_right);
    if (!is_right) {
        printf("a program is not linked\n");
        exit(1);
    }
    return made;
}

static GLuint buffer(GLenum target, size_t size, const void *data)
{
    GLuint made;
    glGenBuffers(1, &made);
    glBindBuffer(target, made);
    glBufferData(target, size, data, GL_DYNAMIC_COPY);
    return made;
}

static GLuint texture(int levels)
{
    GLuint made;
    glGenTextures(1, &made);
    glBindTexture(GL_TEXTURE_2D, made);
    glTexStorage2D(GL_TEXTURE_2D, levels, GL_RGBA8, SIDE, SIDE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, levels > 1 ? GL_NEAREST_MIPMAP_NEAREST : GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return made;
}

static GLuint framebuffer(GLuint to)
{
    GLuint made;
    glGenFramebuffers(1, &made);
    glBindFramebuffer(GL_FRAMEBUFFER, made);
    if (to)
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, to, 0);
    return made;
}

static GLuint renderbuffer(GLenum format, int samples, GLenum attachment)
{
    GLuint made;
    glGenRenderbuffers(1, &made);
    glBindRenderbuffer(GL_RENDERBUFFER, made);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, SIDE, SIDE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, made);
    return made;
}

static const char *const add =
    "layout(local_size_x = 64) in;\n"
    "layout(std430, binding = 0) buffer A { uint a[]; };\n"
    "layout(std430, binding = 1) buffer B { uint b[]; };\n"
    "void main() { uint i = gl_GlobalInvocationID.x; b[i] = a[(i * 7u + 3u) % 4096u] * 3u + i; }\n";

/* Writes arguments of a dispatch, and at 64 those of a draw with indices. */
static const char *const arguments =
    "layout(local_size_x = 1) in;\n"
    "layout(std430, binding = 0) buffer A { uint a[]; };\n"
    "layout(std430, binding = 2) buffer C { uint c[]; };\n"
    "void main() { c[0] = 16u + (a[1] & 1u); c[1] = 1u; c[2] = 1u;\n"
    "  c[16] = 6u; c[17] = 3u; c[18] = 0u; c[19] = 0u; c[20] = 0u;\n"
    "  uint quad[6] = uint[](0u, 1u, 2u, 2u, 1u, 3u); for (uint i = 0u; i < 6u; i++) c[32u + i] = quad[i]; }\n";

static const char *const paint =
    "layout(local_size_x = 8, local_size_y = 8) in;\n"
    "layout(rgba8, binding = 0) writeonly uniform image2D to;\n"
    "uniform sampler2D from;\n"
    "void main() { ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
    "  imageStore(to, at, texelFetch(from, at.yx, 0).gbra + vec4(float(at.x ^ at.y) / 255.0)); }\n";

static const char *const quad =
    "uniform float shift;\n"
    "out vec2 at;\n"
    "void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = p;\n"
    "  gl_Position = vec4(p * 1.6 - 0.8 + vec2(float(gl_InstanceID) * 0.125 + shift, shift), float(gl_InstanceID) * 0.25 - shift, 1.0); }\n";

static const char *const lit =
    "in vec2 at; out vec4 color; uniform sampler2D from; uniform float level;\n"
    "layout(std140) uniform Tint { vec4 tint; };\n"
    "void main() { color = textureLod(from, at, level) * 0.75 + tint + vec4(at * 0.25, 0.0, 0.0); }\n";

static const char *const points =
    "layout(location = 0) in vec4 point;\n"
    "void main() { gl_Position = vec4(point.yx * 1.5 - 0.75, point.z, 1.0); gl_PointSize = 1.0; }\n";

static const char *const white = "out vec4 color; void main() { color = vec4(1.0, 0.5, 0.25, 1.0); }\n";

int main(int count, char **words)
{
    static const EGLint attributes[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE };
    static unsigned data[COUNT];
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (count > 1 && !(pictures_file = fopen(words[1], "wb"))) {
        perror(words[1]);
        return 1;
    }
    eglInitialize(display, NULL, NULL);
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        printf("no context: %#x\n", eglGetError());
        return 1;
    }
    printf("%s\n", glGetString(GL_RENDERER));
    for (unsigned i = 0; i < COUNT; i++)
        data[i] = i * 2654435761u;

    /* Dispatches that depend on each other, and one whose number of groups the GPU has written. */
    const GLuint adds = program(add, NULL), argues = program(arguments, NULL);
    const GLuint first = buffer(GL_SHADER_STORAGE_BUFFER, sizeof data, data);
    const GLuint second = buffer(GL_SHADER_STORAGE_BUFFER, sizeof data, NULL);
    const GLuint third = buffer(GL_SHADER_STORAGE_BUFFER, 4096, NULL);
    glUseProgram(adds);
    for (int round = 0; round < 4; round++) {
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, round & 1 ? second : first);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, round & 1 ? first : second);
        glDispatchCompute(COUNT / 64, 1, 1);
        glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    }
    glUseProgram(argues);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, third);
    glDispatchCompute(1, 1, 1);
    glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT | GL_ELEMENT_ARRAY_BARRIER_BIT);
    glUseProgram(adds);
    glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, third);
    glDispatchComputeIndirect(0);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glBindBuffer(GL_COPY_READ_BUFFER, first);
    glBindBuffer(GL_COPY_WRITE_BUFFER, second);
    tell_buffer("dispatches", GL_COPY_READ_BUFFER, sizeof data);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 4096, 8192);
    glBufferSubData(GL_COPY_WRITE_BUFFER, 512, 1024, data);
    tell_buffer("copies", GL_COPY_WRITE_BUFFER, sizeof data);

    /* Pictures that are rendered, sampled and rendered again, with a texture that comes from a buffer of the GPU. */
    const GLuint tiles = texture(7), pictures[] = { texture(1), texture(1) };
    const GLuint lights = program(quad, lit);
    const GLuint tint = buffer(GL_UNIFORM_BUFFER, 16, NULL);
    GLuint array, targets[2];
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, second);
    glBindTexture(GL_TEXTURE_2D, tiles);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glGenerateMipmap(GL_TEXTURE_2D);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, third);
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, third);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, tint);
    glUseProgram(lights);
    for (int i = 0; i < 2; i++) {
        targets[i] = framebuffer(pictures[i]);
        renderbuffer(GL_DEPTH24_STENCIL8, 0, GL_DEPTH_STENCIL_ATTACHMENT);
    }
    glViewport(0, 0, SIDE, SIDE);
    for (int round = 0; round < 6; round++) {
        const float color[] = { 0.05f * (float)round, 0.1f, 0.02f * (float)round, 0 };
        glBindFramebuffer(GL_FRAMEBUFFER, targets[round & 1]);
        glBindTexture(GL_TEXTURE_2D, round ? pictures[~round & 1] : tiles);
        glBufferSubData(GL_UNIFORM_BUFFER, 0, sizeof color, color);
        glUniform1f(glGetUniformLocation(lights, "level"), round ? 0 : 2);
        glUniform1f(glGetUniformLocation(lights, "shift"), 0.03f * (float)round);
        glClearColor(0.1f, 0.2f, 0.3f * (float)(round & 1), 1);
        glEnable(GL_DEPTH_TEST);
        glEnable(GL_STENCIL_TEST);
        glStencilFunc(GL_ALWAYS, 1, 255);
        glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        /* The indices lie behind the arguments. */
        if (round & 1)
            glDrawElementsInstanced(GL_TRIANGLES, 6, GL_UNSIGNED_INT, (const void *)128, 2);
        else
            glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 3);
        glStencilFunc(GL_EQUAL, 2, 255);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 4);
    }
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_STENCIL_TEST);
    tell_picture("ping-pong");

    /* An image that a dispatch writes from a rendered picture, and a draw samples. */
    const GLuint image = texture(1), paints = program(paint, NULL);
    glUseProgram(paints);
    glBindTexture(GL_TEXTURE_2D, pictures[1]);
    glBindImageTexture(0, image, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    glDispatchCompute(SIDE / 8, SIDE / 8, 1);
    glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_FRAMEBUFFER_BARRIER_BIT);
    glUseProgram(lights);
    glBindTexture(GL_TEXTURE_2D, image);
    glBindFramebuffer(GL_FRAMEBUFFER, targets[0]);
    glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, (const void *)64);
    tell_picture("indirect");
    framebuffer(image);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    glBindTexture(GL_TEXTURE_2D, tiles);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisable(GL_BLEND);
    tell_picture("image");

    /* Several samples, resolved and sampled, and a picture that is copied while it is a texture. */
    const GLuint samples = framebuffer(0), resolved = texture(1);
    renderbuffer(GL_RGBA8, 4, GL_COLOR_ATTACHMENT0);
    renderbuffer(GL_DEPTH_COMPONENT24, 4, GL_DEPTH_ATTACHMENT);
    glEnable(GL_DEPTH_TEST);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glBindTexture(GL_TEXTURE_2D, image);
    glUniform1f(glGetUniformLocation(lights, "shift"), 0.013f);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 4);
    glDisable(GL_DEPTH_TEST);
    const GLuint to = framebuffer(resolved);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, samples);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, to);
    tell_picture("resolve");
    glBindTexture(GL_TEXTURE_2D, tiles);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 0, 0, 32, 32);
    glBindFramebuffer(GL_FRAMEBUFFER, targets[1]);
    glUniform1f(glGetUniformLocation(lights, "level"), 0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    tell_picture("copied");

    /* Points whose places the GPU wrote, and the question whether any of them is seen. */
    const GLuint moves = program(points, white);
    GLuint query, passed = 0;
    glUseProgram(moves);
    glBindBuffer(GL_ARRAY_BUFFER, second);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, NULL);
    glGenQueries(1, &query);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
    glDrawArrays(GL_POINTS, 0, 256);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &passed);
    tell_picture("points");
    passed = passed != 0;
    tell("query", &passed, sizeof passed);

    /* A picture in a buffer, which a dispatch reads. */
    glBindBuffer(GL_PIXEL_PACK_BUFFER, first);
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glUseProgram(adds);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, first);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, second);
    glDispatchCompute(COUNT / 64, 1, 1);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    tell_buffer("packed", GL_COPY_WRITE_BUFFER, sizeof data);
    eglTerminate(display);
    if (pictures_file && fclose(pictures_file))
        failed = printf("the pictures cannot be written\n");
    return failed;
}
