/*
 * A client of OpenGL ES 3.2 without a window that draws small pictures, family by family: formats, depth and stencil, clears of a part,
 * blits, several samples, blending, primitives, attributes, textures, and what shaders write to memory. It takes the paths of radeonsi
 * that RADV does not have. Textures of ETC2 are left out: few chips decode them, and the simulator does not.
 *
 * usage: families FILE [FAMILY...]
 *
 * Each step is written to the file as a line, "NAME KIND WIDTH HEIGHT", and its pixels of 4 values: KIND b has bytes, f floats and i
 * integers of 32 bits. The same program on llvmpipe gives what is expected, and families.py compares the two. Where OpenGL leaves
 * freedom, a step avoids it: no nearest texel is between two, and no edge passes through a sample.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <GLES2/gl2ext.h>

enum { SIDE = 64 };

static int failed;
static FILE *out;
static char family[64];

static void check_error(const char *step)
{
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR) {
        printf("%s.%s: error %#x\n", family, step, error);
        failed = 1;
    }
}

static void record(const char *step, char kind, int width, int height, const void *data)
{
    const size_t size = (size_t)width * (size_t)height * (kind == 'b' ? 4 : 16);
    check_error(step);
    fprintf(out, "%s.%s %c %d %d\n", family, step, kind, width, height);
    if (fwrite(data, size, 1, out) != 1)
        failed = printf("%s: the picture cannot be written\n", step);
    fflush(out);
}

/* Reads the picture of the bound framebuffer: 'b', 'f', 'i' or 'u', which is recorded as i. */
static void tell(const char *step, char kind)
{
    static unsigned char pixels[SIDE * SIDE * 16];
    memset(pixels, 0xcd, sizeof pixels);
    switch (kind) {
    case 'b': glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels); break;
    case 'f': glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_FLOAT, pixels); break;
    case 'i': glReadPixels(0, 0, SIDE, SIDE, GL_RGBA_INTEGER, GL_INT, pixels); break;
    default: glReadPixels(0, 0, SIDE, SIDE, GL_RGBA_INTEGER, GL_UNSIGNED_INT, pixels); kind = 'i'; break;
    }
    record(step, kind, SIDE, SIDE, pixels);
}

static int has(const char *extension)
{
    return strstr((const char *)glGetString(GL_EXTENSIONS), extension) != NULL;
}

static GLuint stage(GLenum kind, const char *head, const char *body)
{
    const char *texts[] = { "#version 320 es\n", head,
                            "precision highp float;\nprecision highp int;\nprecision highp sampler2D;\nprecision highp usampler2D;\n"
                            "precision highp isampler2D;\nprecision highp sampler2DShadow;\nprecision highp sampler2DMS;\nprecision highp usampler2DMS;\n"
                            "precision highp sampler2DArray;\nprecision highp sampler3D;\nprecision highp samplerCube;\n"
                            "precision highp samplerBuffer;\nprecision highp image2D;\nprecision highp uimage2D;\n"
                            "precision highp sampler2DMSArray;\nprecision highp sampler2DArrayShadow;\nprecision highp samplerCubeArray;\n",
                            body };
    GLuint shader = glCreateShader(kind);
    GLint is_right = 0;
    glShaderSource(shader, 4, texts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &is_right);
    if (!is_right) {
        char log[2048] = "";
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        printf("%s: shader: %s\n%s\n", family, log, body);
        exit(1);
    }
    return shader;
}

/* Uses a program, which is made once. */
static GLuint use_with(const char *head, const char *vertex, const char *fragment)
{
    static struct { char *text; GLuint made; } programs[512];
    static int count;
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s", head, vertex, fragment ? fragment : "");
    for (int i = 0; i < count; i++)
        if (!strcmp(programs[i].text, text)) {
            glUseProgram(programs[i].made);
            return programs[i].made;
        }
    GLuint made = glCreateProgram();
    GLint is_right = 0;
    if (count < 512) {
        programs[count].text = strdup(text);
        programs[count++].made = made;
    }
    glAttachShader(made, stage(fragment ? GL_VERTEX_SHADER : GL_COMPUTE_SHADER, head, vertex));
    if (fragment)
        glAttachShader(made, stage(GL_FRAGMENT_SHADER, head, fragment));
    glLinkProgram(made);
    glGetProgramiv(made, GL_LINK_STATUS, &is_right);
    if (!is_right) {
        char log[2048] = "";
        glGetProgramInfoLog(made, sizeof log, NULL, log);
        printf("%s: a program is not linked: %s\n", family, log);
        exit(1);
    }
    glUseProgram(made);
    return made;
}

static GLuint use(const char *vertex, const char *fragment) { return use_with("", vertex, fragment); }

static GLint uniform(const char *name)
{
    GLint current;
    glGetIntegerv(GL_CURRENT_PROGRAM, &current);
    return glGetUniformLocation((GLuint)current, name);
}

static GLuint texture_of(GLenum target, GLenum format, int levels, int width, int height, int depth)
{
    GLuint made;
    glGenTextures(1, &made);
    glBindTexture(target, made);
    if (target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY || target == GL_TEXTURE_CUBE_MAP_ARRAY)
        glTexStorage3D(target, levels, format, width, height, depth);
    else
        glTexStorage2D(target, levels, format, width, height);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, levels > 1 ? GL_NEAREST_MIPMAP_NEAREST : GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return made;
}

static GLuint texture(GLenum format) { return texture_of(GL_TEXTURE_2D, format, 1, SIDE, SIDE, 1); }

static GLuint framebuffer(void)
{
    GLuint made;
    glGenFramebuffers(1, &made);
    glBindFramebuffer(GL_FRAMEBUFFER, made);
    return made;
}

static GLuint attach(GLenum attachment, GLuint to)
{
    glFramebufferTexture2D(GL_FRAMEBUFFER, attachment, GL_TEXTURE_2D, to, 0);
    return to;
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

/* A target of a format, bound and complete, or 0. */
static GLuint target(GLenum format)
{
    GLuint made = framebuffer();
    attach(GL_COLOR_ATTACHMENT0, texture(format));
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE)
        return made;
    glGetError();
    return 0;
}

static GLuint buffer(GLenum where, size_t size, const void *data)
{
    GLuint made;
    glGenBuffers(1, &made);
    glBindBuffer(where, made);
    glBufferData(where, (GLsizeiptr)size, data, GL_DYNAMIC_COPY);
    return made;
}

static void reset(void)
{
    static const GLenum off[] = { GL_DEPTH_TEST, GL_STENCIL_TEST, GL_BLEND, GL_CULL_FACE, GL_SCISSOR_TEST, GL_POLYGON_OFFSET_FILL,
                                  GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE, GL_SAMPLE_MASK, GL_SAMPLE_SHADING,
                                  GL_PRIMITIVE_RESTART_FIXED_INDEX };
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        glDisable(off[i]);
    GLuint array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, SIDE, SIDE);
    glScissor(0, 0, SIDE, SIDE);
    glColorMask(1, 1, 1, 1);
    glDepthMask(1);
    glStencilMask(255);
    glDepthFunc(GL_LESS);
    glStencilFunc(GL_ALWAYS, 0, 255);
    glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    glBlendEquation(GL_FUNC_ADD);
    glDepthRangef(0, 1);
    glActiveTexture(GL_TEXTURE0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glClearColor(0, 0, 0, 0);
    glClearDepthf(1);
    glClearStencil(0);
}

/* A rectangle in clip coordinates, whose corner and size are the uniform box, at depth z. */
static const char *const rectangle =
    "uniform vec4 box; uniform vec3 z; out vec2 at;\n"
    "void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = p;\n"
    "  gl_Position = vec4(box.xy + p * box.zw, z.x + p.x * z.y + p.y * z.z, 1.0); }\n";
/* All of the target. */
static const char *const full =
    "out vec2 at;\n"
    "void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = p; gl_Position = vec4(p * 2.0 - 1.0, 0.0, 1.0); }\n";
static const char *const shade =
    "in vec2 at; out vec4 color; uniform vec4 tint;\n"
    "void main() { color = vec4(at, 1.0 - at.x * 0.5, 0.25 + at.y * 0.5) * tint; }\n";

static void draw_box(float x, float y, float width, float height, float z, float zx, float zy)
{
    glUniform4f(uniform("box"), x, y, width, height);
    glUniform3f(uniform("z"), z, zx, zy);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* Shows a bound texture in a target of bytes or floats with a fragment shader: `texel` gives a colour of at and place. */
static void show(const char *step, GLenum format, const char *declarations, const char *texel)
{
    char body[2048];
    snprintf(body, sizeof body, "in vec2 at; out vec4 color; %s\nvoid main() { ivec2 place = ivec2(gl_FragCoord.xy); color = %s; }\n",
             declarations, texel);
    GLint draw, read, used;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw);
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read);
    glGetIntegerv(GL_CURRENT_PROGRAM, &used);
    GLint bound;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    if (!target(format)) {
        printf("no target of %#x\n", format);
        exit(1);
    }
    glBindTexture(GL_TEXTURE_2D, (GLuint)bound);
    use(full, body);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    tell(step, format == GL_RGBA32F || format == GL_R32F ? 'f' : 'b');
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read);
    glUseProgram((GLuint)used);
}

struct format {
    const char *name;
    GLenum format;
    char kind;
};

static const struct format colours[] = {
    { "r8", GL_R8, 'b' }, { "rg8", GL_RG8, 'b' }, { "rgb8", GL_RGB8, 'b' }, { "rgba8", GL_RGBA8, 'b' }, { "rgb565", GL_RGB565, 'b' },
    { "rgba4", GL_RGBA4, 'b' }, { "rgb5a1", GL_RGB5_A1, 'b' }, { "rgb10a2", GL_RGB10_A2, 'b' }, { "srgb8a8", GL_SRGB8_ALPHA8, 'b' },
    { "r11g11b10f", GL_R11F_G11F_B10F, 'f' }, { "r16f", GL_R16F, 'f' }, { "rg16f", GL_RG16F, 'f' }, { "rgba16f", GL_RGBA16F, 'f' },
    { "r32f", GL_R32F, 'f' }, { "rg32f", GL_RG32F, 'f' }, { "rgba32f", GL_RGBA32F, 'f' },
    { "r16", GL_R16_EXT, 'b' }, { "rg16", GL_RG16_EXT, 'b' }, { "rgba16", GL_RGBA16_EXT, 'b' },
    { "r8snorm", GL_R8_SNORM, 'f' }, { "rg8snorm", GL_RG8_SNORM, 'f' }, { "rgba8snorm", GL_RGBA8_SNORM, 'f' },
    { "r16snorm", GL_R16_SNORM_EXT, 'f' }, { "rgba16snorm", GL_RGBA16_SNORM_EXT, 'f' }, { "bgra8", GL_BGRA8_EXT, 'b' },
    { "r8ui", GL_R8UI, 'u' }, { "rg8ui", GL_RG8UI, 'u' }, { "rgba8ui", GL_RGBA8UI, 'u' }, { "r16ui", GL_R16UI, 'u' },
    { "rg16ui", GL_RG16UI, 'u' }, { "rgba16ui", GL_RGBA16UI, 'u' }, { "r32ui", GL_R32UI, 'u' }, { "rg32ui", GL_RG32UI, 'u' },
    { "rgba32ui", GL_RGBA32UI, 'u' }, { "rgb10a2ui", GL_RGB10_A2UI, 'u' }, { "r8i", GL_R8I, 'i' }, { "rg8i", GL_RG8I, 'i' },
    { "rgba8i", GL_RGBA8I, 'i' }, { "r16i", GL_R16I, 'i' }, { "rg16i", GL_RG16I, 'i' }, { "rgba16i", GL_RGBA16I, 'i' },
    { "r32i", GL_R32I, 'i' }, { "rg32i", GL_RG32I, 'i' }, { "rgba32i", GL_RGBA32I, 'i' },
};
enum { COLOURS = sizeof colours / sizeof *colours };

static void clear_as(const struct format *format, int which)
{
    const GLfloat f[] = { 0.25f + 0.5f * (float)which, 0.5f, 1.0f - (float)which, 0.75f };
    const GLuint u[] = { 5u + (unsigned)which, 100, 127, 1 };
    const GLint i[] = { -5 - which, 100, -127, 1 };
    if (format->kind == 'u')
        glClearBufferuiv(GL_COLOR, 0, u);
    else if (format->kind == 'i')
        glClearBufferiv(GL_COLOR, 0, i);
    else
        glClearBufferfv(GL_COLOR, 0, f);
}

static GLuint format_program(const struct format *format)
{
    if (format->kind == 'u')
        return use(rectangle, "in vec2 at; out uvec4 color; void main() { uvec2 p = uvec2(gl_FragCoord.xy);\n"
                              "  color = uvec4(p.x + 3u, p.y, p.x ^ p.y, p.x & 3u); }\n");
    if (format->kind == 'i')
        return use(rectangle, "in vec2 at; out ivec4 color; void main() { ivec2 p = ivec2(gl_FragCoord.xy);\n"
                              "  color = ivec4(p.x - 30, -p.y, p.x ^ p.y, p.x & 3); }\n");
    GLuint made = use(rectangle, shade);
    glUniform4f(uniform("tint"), 1, 1, 1, 1);
    return made;
}

/* Every colour format cleared, cleared in part, drawn over, read, copied by a blit and sampled. */
static void formats(void)
{
    char name[64];
    for (int i = 0; i < COLOURS; i++) {
        const struct format *format = &colours[i];
        const GLuint from = target(format->format);
        if (!from)
            continue;
        GLint attached;
        glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &attached);
        clear_as(format, 0);
        snprintf(name, sizeof name, "%s-cleared", format->name);
        tell(name, format->kind);
        glEnable(GL_SCISSOR_TEST);
        glScissor(10, 13, 30, 20);
        clear_as(format, 1);
        glDisable(GL_SCISSOR_TEST);
        format_program(format);
        draw_box(-0.21f, -0.51f, 0.8f, 1.2f, 0, 0, 0);
        snprintf(name, sizeof name, "%s-drawn", format->name);
        tell(name, format->kind);
        clear_as(format, 1);
        draw_box(-0.81f, -0.51f, 0.8f, 1.2f, 0, 0, 0);
        snprintf(name, sizeof name, "%s-sampled", format->name);
        glBindTexture(GL_TEXTURE_2D, (GLuint)attached);
        if (format->kind == 'u')
            show(name, GL_RGBA32F, "uniform usampler2D from;", "vec4(texelFetch(from, place.yx, 0))");
        else if (format->kind == 'i')
            show(name, GL_RGBA32F, "uniform isampler2D from;", "vec4(texelFetch(from, place.yx, 0))");
        else
            show(name, GL_RGBA8, "uniform sampler2D from;", "texelFetch(from, place.yx, 0)");
        /* Cleared, and blitted at once to another place of another texture. */
        clear_as(format, 0);
        const GLuint to = target(format->format);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, to);
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
        clear_as(format, 1);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
        glBlitFramebuffer(0, 0, 32, 32, 8, 16, 40, 48, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, to);
        snprintf(name, sizeof name, "%s-blitted", format->name);
        tell(name, format->kind);
    }
}

static const struct format depths[] = {
    { "d16", GL_DEPTH_COMPONENT16, 'd' }, { "d24", GL_DEPTH_COMPONENT24, 'd' }, { "d32f", GL_DEPTH_COMPONENT32F, 'd' },
    { "d24s8", GL_DEPTH24_STENCIL8, 's' }, { "d32fs8", GL_DEPTH32F_STENCIL8, 's' },
};
enum { DEPTHS = sizeof depths / sizeof *depths };

static const char *const plain = "in vec2 at; out vec4 color; uniform vec4 tint; void main() { color = tint; }\n";

static void depth(void)
{
    char name[64];
    for (int i = 0; i < DEPTHS; i++) {
        const int stencil = depths[i].kind == 's';
        const GLenum where = stencil ? GL_DEPTH_STENCIL_ATTACHMENT : GL_DEPTH_ATTACHMENT;
        const GLuint first = target(GL_RGBA8);
        const GLuint texel = texture(depths[i].format);
        attach(where, texel);
        glEnable(GL_DEPTH_TEST);
        if (stencil) {
            glEnable(GL_STENCIL_TEST);
            glStencilFunc(GL_ALWAYS, 3, 255);
            glStencilOp(GL_KEEP, GL_INCR, GL_REPLACE);
        }
        glClearDepthf(0.75f);
        glClearStencil(7);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        glEnable(GL_SCISSOR_TEST);
        glScissor(9, 5, 31, 23);
        glClearDepthf(0.35f);
        glClearStencil(2);
        glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        glDisable(GL_SCISSOR_TEST);
        use(rectangle, plain);
        glUniform4f(uniform("tint"), 1, 0.5f, 0.25f, 1);
        draw_box(-0.81f, -0.71f, 1.2f, 1.4f, 0.1f, -0.5f, 0.9f);
        glUniform4f(uniform("tint"), 0.25f, 0.5f, 1, 1);
        glDepthFunc(GL_GREATER);
        draw_box(-0.31f, -0.31f, 1.2f, 1.2f, 0.2f, 0.3f, -0.4f);
        snprintf(name, sizeof name, "%s-colour", depths[i].name);
        tell(name, 'b');
        glBindTexture(GL_TEXTURE_2D, texel);
        glDisable(GL_DEPTH_TEST);
        glDisable(GL_STENCIL_TEST);
        snprintf(name, sizeof name, "%s-sampled", depths[i].name);
        show(name, GL_R32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x)");
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
        snprintf(name, sizeof name, "%s-compared", depths[i].name);
        show(name, GL_RGBA8, "uniform sampler2DShadow from;", "vec4(texture(from, vec3(at, 0.53127)), texture(from, vec3(at.yx, 0.4171)), 0.0, 1.0)");
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_NONE);
        if (stencil) {
            glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
            snprintf(name, sizeof name, "%s-stencil", depths[i].name);
            show(name, GL_RGBA32F, "uniform usampler2D from;", "vec4(texelFetch(from, place, 0).x)");
            glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_DEPTH_COMPONENT);
        }
        /* Blitted, and drawn over what was blitted. */
        const GLuint second = target(GL_RGBA8), copy = texture(depths[i].format);
        attach(where, copy);
        glClearDepthf(0.6f);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, first);
        glBlitFramebuffer(0, 0, 64, 64, 0, 0, 64, 64, GL_DEPTH_BUFFER_BIT | (stencil ? GL_STENCIL_BUFFER_BIT : 0), GL_NEAREST);
        glBindFramebuffer(GL_FRAMEBUFFER, second);
        glEnable(GL_DEPTH_TEST);
        glDepthFunc(GL_LESS);
        use(rectangle, plain);
        glUniform4f(uniform("tint"), 1, 1, 0.25f, 1);
        draw_box(-0.91f, -0.91f, 1.8f, 1.8f, -0.3f, 0.4f, 0.4f);
        snprintf(name, sizeof name, "%s-blitted", depths[i].name);
        tell(name, 'b');
        glBindTexture(GL_TEXTURE_2D, copy);
        glDisable(GL_DEPTH_TEST);
        snprintf(name, sizeof name, "%s-blitted-depth", depths[i].name);
        show(name, GL_R32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x)");
        /* A clear alone, sampled at once; then a draw with a different test after sampling. */
        glBindFramebuffer(GL_FRAMEBUFFER, first);
        glClearDepthf(0.1875f);
        glClear(GL_DEPTH_BUFFER_BIT);
        glBindTexture(GL_TEXTURE_2D, texel);
        snprintf(name, sizeof name, "%s-clear-sampled", depths[i].name);
        show(name, GL_R32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x)");
        glEnable(GL_DEPTH_TEST);
        draw_box(-0.91f, -0.91f, 1.4f, 1.8f, -0.9f, 0.4f, 0.4f);
        glDisable(GL_DEPTH_TEST);
        snprintf(name, sizeof name, "%s-after-sampled", depths[i].name);
        glBindTexture(GL_TEXTURE_2D, texel);
        show(name, GL_R32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x)");
        /* Texels uploaded, and drawn against. */
        if (!stencil && depths[i].format != GL_DEPTH_COMPONENT32F) {
            static GLuint up[SIDE * SIDE];
            for (unsigned at = 0; at < SIDE * SIDE; at++)
                up[at] = (at % 61u) * 70000000u;
            glBindTexture(GL_TEXTURE_2D, texel);
            if (depths[i].format == GL_DEPTH_COMPONENT24)
                glTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 40, 40, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, up);
            snprintf(name, sizeof name, "%s-uploaded", depths[i].name);
            show(name, GL_R32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x)");
            glEnable(GL_DEPTH_TEST);
            draw_box(-0.91f, -0.91f, 1.8f, 1.8f, -0.3f, 0.4f, 0.4f);
            glDisable(GL_DEPTH_TEST);
            snprintf(name, sizeof name, "%s-uploaded-drawn", depths[i].name);
            tell(name, 'b');
        }
    }
}

static void stencil(void)
{
    static const GLenum operations[] = { GL_KEEP, GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT, GL_INCR_WRAP, GL_DECR_WRAP };
    static const GLenum tests[] = { GL_NEVER, GL_LESS, GL_EQUAL, GL_LEQUAL, GL_GREATER, GL_NOTEQUAL, GL_GEQUAL, GL_ALWAYS };
    static const GLenum kinds[] = { GL_STENCIL_INDEX8, GL_DEPTH24_STENCIL8 };
    char name[64];
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < 8; i++) {
            target(GL_RGBA8);
            const GLuint texel = texture(kinds[kind]);
            attach(kind ? GL_DEPTH_STENCIL_ATTACHMENT : GL_STENCIL_ATTACHMENT, texel);
            glClearStencil(0xfe);
            glClear(GL_COLOR_BUFFER_BIT | GL_STENCIL_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
            glEnable(GL_SCISSOR_TEST);
            glScissor(0, 0, 32, 64);
            glClearStencil(1);
            glClear(GL_STENCIL_BUFFER_BIT);
            glStencilMask(0x0f);
            glScissor(0, 0, 64, 20);
            glClearStencil(0x33);
            glClear(GL_STENCIL_BUFFER_BIT);
            glDisable(GL_SCISSOR_TEST);
            glStencilMask(0xff);
            glEnable(GL_STENCIL_TEST);
            if (kind)
                glEnable(GL_DEPTH_TEST);
            glStencilFuncSeparate(GL_FRONT, tests[i], 0x32, 0x3f);
            glStencilFuncSeparate(GL_BACK, tests[(i + 3) % 8], 1, 0xff);
            glStencilOpSeparate(GL_FRONT, operations[i], operations[(i + 1) % 8], operations[(i + 2) % 8]);
            glStencilOpSeparate(GL_BACK, operations[(i + 3) % 8], operations[(i + 4) % 8], operations[(i + 5) % 8]);
            glStencilMaskSeparate(GL_FRONT, i & 1 ? 0xf7 : 0xff);
            use(rectangle, plain);
            glUniform4f(uniform("tint"), 1, 0.5f, 0.25f, 1);
            draw_box(-0.91f, -0.91f, 1.6f, 1.2f, 0, 0.2f, 0);
            glUniform4f(uniform("tint"), 0.5f, 1, 0.25f, 1);
            draw_box(0.91f, -0.61f, -1.6f, 1.2f, 0.1f, 0.1f, 0);
            draw_box(0.71f, -0.61f, -1.1f, 1.4f, -0.1f, 0.1f, 0);
            glDisable(GL_STENCIL_TEST);
            glDisable(GL_DEPTH_TEST);
            glStencilMask(255);
            snprintf(name, sizeof name, "%s-%d", kind ? "d24s8" : "s8", i);
            tell(name, 'b');
            glBindTexture(GL_TEXTURE_2D, texel);
            glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
            snprintf(name, sizeof name, "%s-%d-values", kind ? "d24s8" : "s8", i);
            show(name, GL_RGBA32F, "uniform usampler2D from;", "vec4(texelFetch(from, place, 0).x)");
        }
}

/* Blits that scale, flip and filter, and resolve. */
static void blits(void)
{
    static const int places[][8] = {
        { 0, 0, 64, 64, 0, 0, 64, 64 }, { 0, 0, 64, 64, 64, 0, 0, 64 }, { 0, 0, 64, 64, 0, 64, 64, 0 }, { 0, 0, 32, 32, 0, 0, 64, 64 },
        { 5, 7, 21, 23, 3, 9, 51, 57 }, { -20, -20, 44, 44, 0, 0, 64, 64 }, { 8, 8, 40, 40, 60, 50, 28, 18 },
    };
    char name[64];
    const GLuint from = target(GL_RGBA8);
    use(full, "in vec2 at; out vec4 color; void main() { uvec2 p = uvec2(gl_FragCoord.xy);\n"
              "  color = vec4(at, float((p.x * 7u ^ p.y * 13u) & 255u) / 255.0, float((p.x + p.y) & 1u)); }\n");
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int linear = 0; linear < 2; linear++) {
            const int *p = places[i];
            const GLuint to = target(GL_RGBA8);
            glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
            glClear(GL_COLOR_BUFFER_BIT);
            glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
            glBlitFramebuffer(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], GL_COLOR_BUFFER_BIT, linear ? GL_LINEAR : GL_NEAREST);
            glBindFramebuffer(GL_READ_FRAMEBUFFER, to);
            snprintf(name, sizeof name, "%zu-%s", i, linear ? "linear" : "nearest");
            tell(name, 'b');
        }
    for (int i = 0; i < COLOURS; i++) {
        const struct format *format = &colours[i];
        const GLuint many = framebuffer();
        renderbuffer(format->format, 4, GL_COLOR_ATTACHMENT0);
        if (glGetError() || glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
            continue;
        GLint made = 0;
        glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_SAMPLES, &made);
        /* Where samples lie is free unless there are 4 of them. Integers have one sample's value, any of them. */
        if (made != 4)
            continue;
        clear_as(format, 0);
        format_program(format);
        if (format->kind == 'u' || format->kind == 'i')
            draw_box(-0.75f, -0.5f, 1, 1, 0, 0, 0);
        else
            draw_box(-0.76f, -0.47f, 1.11f, 1.3f, 0, 0, 0);
        if (!target(format->format))
            continue;
        GLint to;
        glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &to);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, many);
        glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)to);
        snprintf(name, sizeof name, "resolve-%s", format->name);
        tell(name, format->kind);
    }
}

/* Returns the samples of the bound framebuffer from the lowest to the highest: their numbers are free. */
static const int *ordered_samples(void)
{
    static int samples[4];
    for (int i = 0; i < 4; i++) {
        float place[2] = { 0, 0 };
        glGetMultisamplefv(GL_SAMPLE_POSITION, (GLuint)i, place);
        samples[(int)(place[1] * 4) & 3] = i;
    }
    return samples;
}

/* Textures of several samples, masks, coverage by alpha, shading of samples, and depth that is resolved or fetched. */
static void samples(void)
{
    static const char *const fetch = "uniform sampler2DMS from;";
    static const char *const colour[] = { "texelFetch(from, place, 0)", "texelFetch(from, place, 1)", "texelFetch(from, place, 2)",
                                          "texelFetch(from, place, 3)" };
    char name[64];
    for (int mode = 0; mode < 6; mode++) {
        GLuint many[2];
        framebuffer();
        for (int i = 0; i < 2; i++) {
            glGenTextures(1, &many[i]);
            glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, many[i]);
            glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, i ? GL_DEPTH24_STENCIL8 : GL_RGBA8, SIDE, SIDE, GL_TRUE);
            glFramebufferTexture2D(GL_FRAMEBUFFER, i ? GL_DEPTH_STENCIL_ATTACHMENT : GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE,
                                   many[i], 0);
        }
        glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
        glClearDepthf(0.9f);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        glEnable(GL_DEPTH_TEST);
        glEnable(GL_STENCIL_TEST);
        glStencilFunc(GL_ALWAYS, 0, 255);
        glStencilOp(GL_KEEP, GL_INCR, GL_INVERT);
        const int *const sample = ordered_samples();
        const int lower = 1 << sample[0] | 1 << sample[1], mixed = 1 << sample[1] | 1 << sample[3];
        switch (mode) {
        case 0: break;
        case 1: glEnable(GL_SAMPLE_MASK); glSampleMaski(0, 1u << sample[0] | 1u << sample[2]); break;
        case 2: glEnable(GL_SAMPLE_COVERAGE); glSampleCoverage(0.5f, GL_FALSE); break;
        case 3: glEnable(GL_SAMPLE_SHADING); glMinSampleShading(1); break;
        case 4: break;
        default: break;
        }
        if (mode == 4)
            use(rectangle, "in vec2 at; out vec4 color; uniform vec4 tint; uniform ivec2 masks; void main() { color = tint;\n"
                           "  gl_SampleMask[0] = gl_FragCoord.x < 30.0 ? masks.x : masks.y; }\n");
        else if (mode == 5)
            use(rectangle, "in vec2 at; out vec4 color; uniform vec4 tint; uniform ivec4 ranks; void main() {\n"
                           "  color = vec4(float(ranks[gl_SampleID]) * 0.25, gl_SamplePosition.xy, 1.0); }\n");
        else
            use(rectangle, shade);
        int ranks[4];
        for (int i = 0; i < 4; i++)
            ranks[sample[i]] = i;
        if (mode == 4)
            glUniform2i(uniform("masks"), lower, mixed);
        if (mode == 5)
            glUniform4iv(uniform("ranks"), 1, ranks);
        glUniform4f(uniform("tint"), 1, 0.5f, 1, 1);
        /* Which samples a coverage of a half takes is free, so that there it has whole pixels. */
        if (mode == 2) {
            draw_box(-1, -1, 2, 2, 0, 0, 0);
        } else {
            draw_box(-0.81f, -0.71f, 1.21f, 1.4f, 0.1f, -0.5f, 0.9f);
            glUniform4f(uniform("tint"), 0.25f, 0.5f, 1, 1);
            draw_box(-0.31f, -0.33f, 1.2f, 1.2f, 0.2f, 0.3f, -0.4f);
        }
        glDisable(GL_STENCIL_TEST);
        glDisable(GL_SAMPLE_MASK);
        glDisable(GL_SAMPLE_COVERAGE);
        glDisable(GL_SAMPLE_SHADING);
        glDisable(GL_DEPTH_TEST);
        GLint from;
        glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &from);
        for (int i = 0; i < 4; i++) {
            if (mode == 2)
                break;
            glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, many[0]);
            snprintf(name, sizeof name, "%d-colour-%d", mode, i);
            show(name, GL_RGBA8, fetch, colour[sample[i]]);
            glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, many[1]);
            snprintf(name, sizeof name, "%d-depth-%d", mode, i);
            show(name, GL_RGBA32F, fetch, colour[sample[i]]);
            glTexParameteri(GL_TEXTURE_2D_MULTISAMPLE, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
            snprintf(name, sizeof name, "%d-stencil-%d", mode, i);
            char texel[64];
            snprintf(texel, sizeof texel, "vec4(%s)", colour[sample[i]]);
            show(name, GL_RGBA32F, "uniform usampler2DMS from;", texel);
            glTexParameteri(GL_TEXTURE_2D_MULTISAMPLE, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_DEPTH_COMPONENT);
        }
        const GLuint to = target(GL_RGBA8), single = texture(GL_DEPTH24_STENCIL8);
        attach(GL_DEPTH_STENCIL_ATTACHMENT, single);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)from);
        glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT, GL_NEAREST);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, to);
        snprintf(name, sizeof name, "%d-resolved", mode);
        tell(name, 'b');
        glBindTexture(GL_TEXTURE_2D, single);
        snprintf(name, sizeof name, "%d-resolved-depth", mode);
        if (mode != 2 && mode != 1 && mode != 4)
            show(name, GL_RGBA32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x > 0.89 ? 1.0 : 0.0)");
    }
}

static void blending(void)
{
    static const GLenum equations[] = { GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_FUNC_REVERSE_SUBTRACT, GL_MIN, GL_MAX };
    static const GLenum factors[] = { GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR, GL_DST_COLOR, GL_ONE_MINUS_DST_COLOR,
                                      GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_DST_ALPHA, GL_ONE_MINUS_DST_ALPHA, GL_CONSTANT_COLOR,
                                      GL_ONE_MINUS_CONSTANT_COLOR, GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA, GL_SRC_ALPHA_SATURATE };
    static const GLenum kinds[] = { GL_RGBA8, GL_RGBA16F, GL_RGB10_A2, GL_R11F_G11F_B10F, GL_SRGB8_ALPHA8, GL_RGB565 };
    char name[64];
    for (int i = 0; i < 30; i++) {
        const GLenum kind = kinds[i % 6];
        target(kind);
        glClearColor(0.3f, 0.6f, 0.9f, 0.5f);
        glClear(GL_COLOR_BUFFER_BIT);
        glEnable(GL_BLEND);
        glBlendColor(0.25f, 0.5f, 0.75f, 0.4f);
        glBlendEquationSeparate(equations[i % 5], equations[(i / 5) % 5]);
        glBlendFuncSeparate(factors[i % 15], factors[(i * 7 + 3) % 14], factors[(i + 5) % 15], factors[(i * 3 + 1) % 14]);
        glColorMask(1, i % 4 != 1, 1, i % 3 != 1);
        use(rectangle, shade);
        glUniform4f(uniform("tint"), 1, 0.8f, 1, 1);
        draw_box(-0.81f, -0.71f, 1.2f, 1.4f, 0, 0, 0);
        draw_box(-0.31f, -0.31f, 1.2f, 1.2f, 0, 0, 0);
        glDisable(GL_BLEND);
        glColorMask(1, 1, 1, 1);
        snprintf(name, sizeof name, "%d%s", i, kind == GL_RGB565            ? "-rgb565"
                                                      : kind == GL_R11F_G11F_B10F ? "-r11g11b10f"
                                                      : kind == GL_SRGB8_ALPHA8   ? "-blended-srgb"
                                                                                  : "");
        tell(name, kind == GL_RGBA16F || kind == GL_R11F_G11F_B10F ? 'f' : 'b');
    }
    if (has("GL_EXT_blend_func_extended")) {
        target(GL_RGBA8);
        glClearColor(0.3f, 0.6f, 0.9f, 0.5f);
        glClear(GL_COLOR_BUFFER_BIT);
        glEnable(GL_BLEND);
        /* radeonsi has two sources with neither the minimum nor the maximum. */
        glBlendEquation(GL_FUNC_ADD);
        glBlendFunc(GL_SRC1_COLOR_EXT, GL_ONE_MINUS_SRC1_ALPHA_EXT);
        use_with("#extension GL_EXT_blend_func_extended : require\n", rectangle,
                 "in vec2 at; layout(location = 0, index = 0) out vec4 color; layout(location = 0, index = 1) out vec4 other;\n"
                 "void main() { color = vec4(at, 0.5, 1.0); other = vec4(0.5, at.yx, at.x * 0.5); }\n");
        draw_box(-0.81f, -0.71f, 1.2f, 1.4f, 0, 0, 0);
        glDisable(GL_BLEND);
        tell("dual", 'b');
    }
}

/* Several targets of several formats with masks of their own. */
static void targets(void)
{
    static const struct format kinds[] = { { "0", GL_RGBA8, 'b' }, { "1", GL_RGBA16F, 'f' }, { "2", GL_R32UI, 'u' }, { "3", GL_RG8, 'b' } };
    static const GLenum all[] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3 };
    static const GLuint whole[] = { 77, 0, 0, 0 };
    static const GLfloat some[] = { 0.2f, 0.4f, 0.6f, 0.8f };
    framebuffer();
    for (int i = 0; i < 4; i++)
        attach(all[i], texture(kinds[i].format));
    glDrawBuffers(4, all);
    for (int i = 0; i < 4; i++)
        if (i == 2)
            glClearBufferuiv(GL_COLOR, i, whole);
        else
            glClearBufferfv(GL_COLOR, i, some);
    glColorMaski(0, 1, 0, 1, 1);
    glColorMaski(1, 0, 1, 1, 1);
    glColorMaski(3, 1, 0, 1, 1);
    glEnablei(GL_BLEND, 1);
    glBlendFunci(1, GL_ONE, GL_ONE);
    use(rectangle, "in vec2 at; layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; layout(location = 2) out uvec4 c;\n"
                   "layout(location = 3) out vec4 d;\n"
                   "void main() { a = vec4(at, 1.0, 0.5); b = vec4(at.yx * 3.0, -1.0, 2.0); c = uvec4(gl_FragCoord.x * 100.0); d = at.xyxy; }\n");
    draw_box(-0.81f, -0.71f, 1.2f, 1.4f, 0, 0, 0);
    glDisablei(GL_BLEND, 1);
    glColorMask(1, 1, 1, 1);
    for (int i = 0; i < 4; i++) {
        glReadBuffer(all[i]);
        tell(kinds[i].name, kinds[i].kind);
    }
    glDrawBuffers(1, all);
}

/* Points, lines, loops, fans, strips with restart, culling, offsets, places outside of the target, and planes that clip. */
static void primitives(void)
{
    static const char *const star =
        "uniform float count; flat out vec4 tint;\n"
        "void main() { float a = float(gl_VertexID) * 6.2831853 / count + 0.3; tint = vec4(float(gl_VertexID & 3) * 0.3, 0.5, 1.0, 1.0);\n"
        "  gl_Position = vec4(cos(a) * 0.83, sin(a) * 0.77, 0.0, 1.0); gl_PointSize = 1.0 + float(gl_VertexID % 7) * 2.0; }\n";
    static const char *const flat = "flat in vec4 tint; out vec4 color; void main() { color = tint; }\n";
    static const struct { const char *name; GLenum mode; int count; } modes[] = {
        { "triangles", GL_TRIANGLES, 12 }, { "strip", GL_TRIANGLE_STRIP, 11 }, { "fan", GL_TRIANGLE_FAN, 9 },
    };
    static const GLushort indices[] = { 0, 1, 2, 3, 0xffff, 4, 5, 6, 0xffff, 7, 8, 9, 10 };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        target(GL_RGBA8);
        use(star, flat);
        glUniform1f(uniform("count"), 11);
        glDrawArrays(modes[i].mode, 0, modes[i].count);
        tell(modes[i].name, 'b');
    }
    buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices);
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    for (int i = 0; i < 2; i++) {
        target(GL_RGBA8);
        use(star, flat);
        glUniform1f(uniform("count"), 11);
        glDrawElements(i ? GL_TRIANGLE_FAN : GL_TRIANGLE_STRIP, 13, GL_UNSIGNED_SHORT, NULL);
        tell(i ? "fan-restart" : "strip-restart", 'b');
    }
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    /* Lines along rows and columns, through the middles of pixels, whose ends are between pixels. */
    target(GL_RGBA8);
    use("void main() { vec2 q[8] = vec2[](vec2(4.0, 4.5), vec2(50.0, 4.5), vec2(50.0, 50.5), vec2(9.0, 50.5), vec2(9.0, 9.5),\n"
        "    vec2(40.0, 9.5), vec2(40.0, 40.5), vec2(15.0, 40.5));\n"
        "  gl_Position = vec4(q[gl_VertexID] / 32.0 - 1.0, 0.0, 1.0); }\n",
        "out vec4 color; void main() { color = vec4(1.0, 0.5, 0.25, 1.0); }\n");
    glDrawArrays(GL_LINES, 0, 8);
    tell("lines", 'b');
    target(GL_RGBA8);
    use("flat out vec4 tint; void main() { int i = gl_VertexID; tint = vec4(float(i) / 8.0, 0.5, 1.0, 1.0);\n"
        "  gl_Position = vec4(vec2(float(i & 3) * 15.0 + 8.26, float(i >> 2) * 28.0 + 17.26) / 32.0 - 1.0, 0.0, 1.0); gl_PointSize = float(i) * 2.0 + 1.0; }\n",
        "flat in vec4 tint; out vec4 color; void main() { color = vec4(gl_PointCoord, tint.x, 1.0); }\n");
    glDrawArrays(GL_POINTS, 0, 8);
    tell("points", 'b');
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = { "cull-back", "cull-front", "cull-both", "cull-clockwise" };
        target(GL_RGBA8);
        use(rectangle, "in vec2 at; out vec4 color; void main() { color = gl_FrontFacing ? vec4(at, 1.0, 1.0) : vec4(1.0, at, 0.5); }\n");
        if (i < 3) {
            glEnable(GL_CULL_FACE);
            glCullFace(i == 0 ? GL_BACK : i == 1 ? GL_FRONT : GL_FRONT_AND_BACK);
        } else
            glFrontFace(GL_CW);
        draw_box(-0.81f, -0.71f, 1.2f, 1.4f, 0, 0, 0);
        draw_box(0.91f, -0.31f, -1.2f, 1.2f, 0, 0, 0);
        glDisable(GL_CULL_FACE);
        glFrontFace(GL_CCW);
        tell(names[i], 'b');
    }
    for (int i = 0; i < DEPTHS; i++) {
        char name[64];
        target(GL_RGBA8);
        const GLuint texel = texture(depths[i].format);
        attach(depths[i].kind == 's' ? GL_DEPTH_STENCIL_ATTACHMENT : GL_DEPTH_ATTACHMENT, texel);
        glClear(GL_DEPTH_BUFFER_BIT | GL_COLOR_BUFFER_BIT);
        glEnable(GL_DEPTH_TEST);
        glEnable(GL_POLYGON_OFFSET_FILL);
        use(rectangle, plain);
        glUniform4f(uniform("tint"), 1, 0.5f, 0.25f, 1);
        glPolygonOffset(1.5f, 4);
        draw_box(-0.81f, -0.71f, 1.2f, 1.4f, 0.1f, 0.2f, 0.3f);
        glPolygonOffset(-1, -100);
        glUniform4f(uniform("tint"), 0, 1, 0.25f, 1);
        draw_box(-0.31f, -0.71f, 1.2f, 1.4f, 0.2f, 0.2f, 0.3f);
        glDisable(GL_POLYGON_OFFSET_FILL);
        glDisable(GL_DEPTH_TEST);
        snprintf(name, sizeof name, "offset-%s", depths[i].name);
        glBindTexture(GL_TEXTURE_2D, texel);
        show(name, GL_R32F, "uniform sampler2D from;", "vec4(texelFetch(from, place, 0).x)");
    }
    target(GL_RGBA8);
    glClearColor(0.1f, 0.2f, 0.3f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glViewport(-30, 20, 80, 100);
    glEnable(GL_SCISSOR_TEST);
    glScissor(7, 25, 30, 50);
    use(rectangle, shade);
    glUniform4f(uniform("tint"), 1, 1, 1, 1);
    draw_box(-3.1f, -2.1f, 6, 5, 0, 0, 0);
    glDisable(GL_SCISSOR_TEST);
    glViewport(0, 0, SIDE, SIDE);
    tell("viewport", 'b');
    if (has("GL_EXT_clip_cull_distance")) {
        target(GL_RGBA8);
        use_with("#extension GL_EXT_clip_cull_distance : require\n",
                 "out vec2 at; void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = p;\n"
                 "  gl_ClipDistance[0] = p.x + p.y * 0.31 - 0.4; gl_ClipDistance[1] = 0.93 - p.y; gl_CullDistance[0] = p.x;\n"
                 "  gl_Position = vec4(p * 1.6 - 0.8, 0.0, 1.0); }\n",
                 "in vec2 at; out vec4 color; void main() { color = vec4(at, 1.0, 1.0); }\n");
        glEnable(GL_CLIP_DISTANCE0_EXT);
        glEnable(GL_CLIP_DISTANCE0_EXT + 1);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        glDisable(GL_CLIP_DISTANCE0_EXT);
        glDisable(GL_CLIP_DISTANCE0_EXT + 1);
        tell("distances", 'b');
    }
    target(GL_RGBA8);
    use("out vec2 at; void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = p;\n"
        "  gl_Position = vec4(p * 1.6 - 0.8, p.x * 3.1 - 1.7, 0.3 + p.y * 1.7 - p.x * 0.5); }\n", "in vec2 at; out vec4 color; void main() { color = vec4(at, 1.0, 1.0); }\n");
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    tell("perspective", 'b');
}

static void attributes(void)
{
    static const struct { const char *name; GLenum type; int size; int normal; int bytes; } kinds[] = {
        { "byte", GL_BYTE, 4, 0, 4 }, { "byte-n", GL_BYTE, 4, 1, 4 }, { "ubyte", GL_UNSIGNED_BYTE, 3, 0, 4 }, { "ubyte-n", GL_UNSIGNED_BYTE, 4, 1, 4 },
        { "short", GL_SHORT, 3, 0, 8 }, { "short-n", GL_SHORT, 4, 1, 8 }, { "ushort-n", GL_UNSIGNED_SHORT, 3, 1, 8 },
        { "ushort", GL_UNSIGNED_SHORT, 2, 0, 4 }, { "int", GL_INT, 4, 0, 16 }, { "int-n", GL_INT, 3, 1, 12 }, { "uint", GL_UNSIGNED_INT, 2, 0, 8 },
        { "uint-n", GL_UNSIGNED_INT, 4, 1, 16 }, { "fixed", GL_FIXED, 4, 0, 16 }, { "fixed3", GL_FIXED, 3, 0, 12 }, { "half", GL_HALF_FLOAT, 4, 0, 8 },
        { "half3", GL_HALF_FLOAT, 3, 0, 8 }, { "float3", GL_FLOAT, 3, 0, 12 }, { "2101010", GL_INT_2_10_10_10_REV, 4, 0, 4 },
        /* Three bytes or shorts at odd places are left out: Mesa 25.0.7's compiler has no instruction for them on GFX6 and aborts. */
        { "2101010-n", GL_INT_2_10_10_10_REV, 4, 1, 4 }, { "u2101010", GL_UNSIGNED_INT_2_10_10_10_REV, 4, 0, 4 },
        { "u2101010-n", GL_UNSIGNED_INT_2_10_10_10_REV, 4, 1, 4 },
    };
    static unsigned data[512];
    for (unsigned i = 0; i < 512; i++)
        data[i] = (i + 1) * 2654435761u;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int is_float = kinds[i].type == GL_FLOAT || kinds[i].type == GL_HALF_FLOAT;
        if (is_float)
            for (unsigned at = 0; at < 512; at++)
                data[at] = kinds[i].type == GL_FLOAT ? 0x3f000000u + at * 40000u : 0x38003c00u + at * 0x00100030u;
        target(GL_RGBA32F);
        buffer(GL_ARRAY_BUFFER, sizeof data, data);
        glEnableVertexAttribArray(0);
        glVertexAttribPointer(0, kinds[i].size, kinds[i].type, (GLboolean)kinds[i].normal, kinds[i].bytes, NULL);
        /* A point of each vertex has its value. */
        use("layout(location = 0) in vec4 value; flat out vec4 shown;\n"
            "void main() { shown = value; gl_PointSize = 1.0; gl_Position = vec4((float(gl_VertexID) + 0.5) / 32.0 - 1.0, 0.015625, 0.0, 1.0); }\n",
            "flat in vec4 shown; out vec4 color; void main() { color = shown; }\n");
        glDrawArrays(GL_POINTS, 0, 24);
        tell(kinds[i].name, 'f');
        glDisableVertexAttribArray(0);
        if (is_float)
            for (unsigned at = 0; at < 512; at++)
                data[at] = (at + 1) * 2654435761u;
    }
    static const GLenum whole[] = { GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_UNSIGNED_SHORT, GL_INT, GL_UNSIGNED_INT };
    for (int i = 0; i < 6; i++) {
        char name[64];
        target(GL_RGBA32I);
        buffer(GL_ARRAY_BUFFER, sizeof data, data);
        glEnableVertexAttribArray(0);
        glVertexAttribIPointer(0, i % 3 + 2, whole[i], 16, (const void *)(size_t)(i * 4));
        use("layout(location = 0) in ivec4 value; flat out ivec4 shown;\n"
            "void main() { shown = value; gl_PointSize = 1.0; gl_Position = vec4((float(gl_VertexID) + 0.5) / 32.0 - 1.0, 0.015625, 0.0, 1.0); }\n",
            "flat in ivec4 shown; out ivec4 color; void main() { color = shown; }\n");
        glDrawArrays(GL_POINTS, 0, 24);
        snprintf(name, sizeof name, "whole-%d", i);
        tell(name, 'i');
        glDisableVertexAttribArray(0);
    }
    for (int divisor = 0; divisor < 4; divisor++) {
        static const GLushort order[] = { 3, 2, 1, 0 };
        char name[64];
        target(GL_RGBA32F);
        buffer(GL_ARRAY_BUFFER, sizeof data, data);
        glEnableVertexAttribArray(0);
        glVertexAttribPointer(0, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4, NULL);
        glVertexAttribDivisor(0, (GLuint)divisor);
        buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order);
        use("layout(location = 0) in vec4 value; flat out vec4 shown; void main() { shown = value; gl_PointSize = 1.0;\n"
            "  gl_Position = vec4((float(gl_VertexID) * 8.0 + 0.5) / 32.0 - 1.0, (float(gl_InstanceID) * 5.0 + 0.5) / 32.0 - 1.0, 0.0, 1.0); }\n",
            "flat in vec4 shown; out vec4 color; void main() { color = shown; }\n");
        glDrawElementsInstancedBaseVertex(GL_POINTS, 4, GL_UNSIGNED_SHORT, NULL, 11, 2);
        snprintf(name, sizeof name, "divisor-%d", divisor);
        tell(name, 'f');
        glVertexAttribDivisor(0, 0);
        glDisableVertexAttribArray(0);
    }
}



/* Fills the levels of a bound texture with smooth values that differ from level to level and from slice to slice. */
static void fill(GLenum target, int levels, int width, int depth)
{
    static unsigned char data[SIDE * SIDE * 8 * 4];
    for (int level = 0; level < levels; level++) {
        const int size = width >> level ? width >> level : 1, slices = target == GL_TEXTURE_3D ? (depth >> level ? depth >> level : 1) : depth;
        for (int i = 0; i < size * size * slices; i++) {
            const int x = i % size, y = i / size % size, z = i / size / size;
            data[i * 4] = (unsigned char)(255 * x / size);
            data[i * 4 + 1] = (unsigned char)(255 * y / size);
            data[i * 4 + 2] = (unsigned char)(40 * level + 17 * z);
            data[i * 4 + 3] = (unsigned char)(255 - 3 * (x + y) * 32 / size);
        }
        if (target == GL_TEXTURE_CUBE_MAP)
            for (int face = 0; face < 6; face++)
                glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, 0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE,
                                data + (size_t)face * (size_t)(size * size) * 4);
        else if (target == GL_TEXTURE_2D)
            glTexSubImage2D(target, level, 0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE, data);
        else
            glTexSubImage3D(target, level, 0, 0, 0, size, size, slices, GL_RGBA, GL_UNSIGNED_BYTE, data);
    }
}

/* Filters, wrap modes, levels, offsets, gathers, cubes, volumes, arrays, comparisons, swizzles and borders. */
static void sampling(void)
{
    static const GLenum wraps[] = { GL_REPEAT, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT, GL_CLAMP_TO_BORDER };
    static const GLfloat border[] = { 0.2f, 0.4f, 0.6f, 0.8f };
    static const char *const flat = "uniform sampler2D from;";
    char name[64];
    const GLuint plain = texture_of(GL_TEXTURE_2D, GL_RGBA8, 7, SIDE, SIDE, 1);
    fill(GL_TEXTURE_2D, 7, SIDE, 1);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, border);
    for (int wrap = 0; wrap < 4; wrap++)
        for (int linear = 0; linear < 2; linear++) {
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, (GLint)wraps[wrap]);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, (GLint)wraps[(wrap + linear) % 4]);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, linear ? GL_LINEAR : GL_NEAREST);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, linear ? GL_LINEAR_MIPMAP_NEAREST : GL_NEAREST_MIPMAP_NEAREST);
            snprintf(name, sizeof name, "wrap-%d-%s", wrap, linear ? "linear" : "nearest");
            show(name, GL_RGBA8, flat, "textureLod(from, at * 2.31 - 0.613, 0.0)");
            snprintf(name, sizeof name, "level-%d-%s", wrap, linear ? "linear" : "nearest");
            show(name, GL_RGBA8, flat, "textureLod(from, at.yx * 1.57 - 0.213, 2.2)");
            snprintf(name, sizeof name, "gather-%d-%s", wrap, linear ? "linear" : "nearest");
            show(name, GL_RGBA8, flat, "textureGather(from, at * 1.41 - 0.207, 1)");
            snprintf(name, sizeof name, "offset-%d-%s", wrap, linear ? "linear" : "nearest");
            show(name, GL_RGBA8, flat, "textureLodOffset(from, at * 1.37 - 0.187, 1.0, ivec2(-5, 3))");
        }
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    show("levels", GL_RGBA8, flat, "textureLod(from, at * 0.71, at.x * 5.0)");
    show("gradients", GL_RGBA8, flat, "textureGrad(from, at * 0.71, vec2(0.0625, 0.0), vec2(0.0, 0.0625))");
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 3);
    show("levels-of-some", GL_RGBA8, flat, "textureLod(from, at * 0.71, at.x * 5.0)");
    show("size", GL_RGBA8, flat, "vec4(vec2(textureSize(from, 1)) / 64.0, texelFetch(from, place / 4, 1).xy)");
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MIN_LOD, 0.5f);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_LOD, 1.25f);
    show("levels-clamped", GL_RGBA8, flat, "textureLod(from, at * 0.71, at.x * 5.0)");
    static const GLenum swizzles[] = { GL_ALPHA, GL_ONE, GL_RED, GL_ZERO };
    for (int i = 0; i < 4; i++)
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R + (GLenum)i, (GLint)swizzles[i]);
    show("swizzled", GL_RGBA8, flat, "textureLod(from, at * 0.71, 0.0)");
    show("swizzled-gather", GL_RGBA8, flat, "textureGather(from, at * 0.71)");
    glBindTexture(GL_TEXTURE_2D, plain);
    texture_of(GL_TEXTURE_CUBE_MAP, GL_RGBA8, 5, 16, 16, 1);
    fill(GL_TEXTURE_CUBE_MAP, 5, 16, 6);
    for (int linear = 0; linear < 2; linear++) {
        glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, linear ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, linear ? GL_LINEAR_MIPMAP_NEAREST : GL_NEAREST_MIPMAP_NEAREST);
        for (int face = 0; face < 6; face++) {
            char texel[160];
            /* Inside of a face: where faces meet, each renderer weighs three texels in its way. */
            snprintf(texel, sizeof texel, "textureLod(from, vec3(%s), 1.0)",
                     face == 0   ? "1.0, at * 1.6 - 0.813"
                     : face == 1 ? "-1.0, at * 1.6 - 0.813"
                     : face == 2 ? "at.x * 1.6 - 0.813, 1.0, at.y * 1.6 - 0.787"
                     : face == 3 ? "at.x * 1.6 - 0.813, -1.0, at.y * 1.6 - 0.787"
                     : face == 4 ? "at * 1.6 - 0.813, 1.0"
                                 : "at * 1.6 - 0.813, -1.0");
            snprintf(name, sizeof name, "cube-%d-%s", face, linear ? "linear" : "nearest");
            show(name, GL_RGBA8, "uniform samplerCube from;", texel);
        }
    }
    texture_of(GL_TEXTURE_3D, GL_RGBA8, 3, 16, 16, 8);
    fill(GL_TEXTURE_3D, 3, 16, 8);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, GL_MIRRORED_REPEAT);
    show("volume-nearest", GL_RGBA8, "uniform sampler3D from;", "textureLod(from, vec3(at * 1.3 - 0.107, at.x * 1.7), 0.0)");
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    show("volume-linear", GL_RGBA8, "uniform sampler3D from;", "textureLod(from, vec3(at * 1.3 - 0.107, at.x * 1.7), at.y * 2.0)");
    texture_of(GL_TEXTURE_2D_ARRAY, GL_RGBA8, 3, 16, 16, 6);
    fill(GL_TEXTURE_2D_ARRAY, 3, 16, 6);
    show("layers", GL_RGBA8, "uniform sampler2DArray from;", "textureLod(from, vec3(at, at.x * 7.3 - 0.8), 1.0)");
    show("layers-gather", GL_RGBA8, "uniform sampler2DArray from;", "textureGather(from, vec3(at * 0.9 + 0.043, 3.0), 2)");
    /* Comparisons, alone and filtered. */
    target(GL_RGBA8);
    const GLuint depths = texture(GL_DEPTH_COMPONENT24);
    attach(GL_DEPTH_ATTACHMENT, depths);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    use(rectangle, shade);
    glUniform4f(uniform("tint"), 1, 1, 1, 1);
    draw_box(-0.81f, -0.71f, 1.52f, 1.4f, -0.9f, 1.1f, 0.6f);
    glDisable(GL_DEPTH_TEST);
    glBindTexture(GL_TEXTURE_2D, depths);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    for (int compare = 0; compare < 8; compare++) {
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_NEVER + compare);
        snprintf(name, sizeof name, "compared-%d", compare);
        show(name, GL_RGBA8, "uniform sampler2DShadow from;", "vec4(textureLod(from, vec3(at, 0.4371), 0.0), at, 1.0)");
        snprintf(name, sizeof name, "compared-gather-%d", compare);
        show(name, GL_RGBA8, "uniform sampler2DShadow from;", "textureGather(from, at * 0.93 + 0.013, 0.4371)");
    }
}

/* What shaders of pixels write besides colours, what they read of buffers, their derivatives, and counts of samples. */
static void memory(void)
{
    {
        const GLuint counts = texture_of(GL_TEXTURE_2D, GL_R32UI, 1, SIDE, SIDE, 1);
        framebuffer();
        attach(GL_COLOR_ATTACHMENT0, counts);
        glClearBufferuiv(GL_COLOR, 0, (const GLuint[]) { 0, 0, 0, 0 });
        target(GL_RGBA8);
        static GLuint words[64];
        memset(words, 0, sizeof words);
        const GLuint storage = buffer(GL_SHADER_STORAGE_BUFFER, sizeof words, words);
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, storage);
        glBindImageTexture(0, counts, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
        use(rectangle, "in vec2 at; out vec4 color; layout(r32ui, binding = 0) uniform highp coherent uimage2D counts;\n"
                       "layout(std430, binding = 0) buffer Words { uint words[64]; };\n"
                       "void main() { ivec2 p = ivec2(gl_FragCoord.xy); imageAtomicAdd(counts, p / 4, 1u + uint(p.x & 1));\n"
                       "  imageAtomicMax(counts, ivec2(40, p.y), uint(p.x)); atomicAdd(words[(p.x ^ p.y) & 31], uint(p.y));\n"
                       "  atomicMin(words[32 + (p.x & 7)], ~uint(p.y)); atomicXor(words[40 + (p.y & 7)], 1u << (p.x & 31));\n"
                       "  if (p.x % 3 == 0) discard; atomicOr(words[48 + (p.y & 7)], 1u << (p.x & 31)); color = vec4(at, 0.5, 1.0); }\n");
        draw_box(-0.81f, -0.71f, 1.21f, 1.4f, 0, 0, 0);
        glMemoryBarrier(GL_ALL_BARRIER_BITS);
        tell("discarded", 'b');
        glBindTexture(GL_TEXTURE_2D, counts);
        show("image", GL_RGBA32F, "uniform usampler2D from;", "vec4(texelFetch(from, place, 0).x)");
        const void *mapped = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, sizeof words, GL_MAP_READ_BIT);
        if (mapped)
            record("words", 'i', 4, 4, mapped);
        glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
    }
    /* Uniform blocks with an index of each pixel, and derivatives. */
    static GLfloat values[64];
    for (int i = 0; i < 64; i++)
        values[i] = (float)(i * 37 % 64) / 64.0f;
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, buffer(GL_UNIFORM_BUFFER, sizeof values, values));
    target(GL_RGBA32F);
    use(full, "in vec2 at; out vec4 color; layout(std140, binding = 0) uniform Values { vec4 values[16]; };\n"
              "void main() { ivec2 p = ivec2(gl_FragCoord.xy); color = values[(p.x + p.y * 3) & 15] + values[p.y & 15].wzyx; }\n");
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    tell("uniforms", 'f');
    target(GL_RGBA32F);
    use(full, "in vec2 at; out vec4 color;\n"
              "void main() { vec2 p = floor(gl_FragCoord.xy); color = vec4(dFdx(p.x * 3.0 + p.y), dFdy(p.x - p.y * 5.0), fwidth(p.x + p.y), 1.0);\n"
              "  if (mod(p.x, 5.0) < 1.0) discard; color.w = dFdx(p.x * 7.0); }\n");
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    tell("derivatives", 'f');
    /* Whether samples pass, with tests of depth, stencil and alpha's place. */
    GLint answers[16] = { 0 };
    GLuint queries[16];
    glGenQueries(16, queries);
    target(GL_RGBA8);
    attach(GL_DEPTH_STENCIL_ATTACHMENT, texture(GL_DEPTH24_STENCIL8));
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    use(rectangle, shade);
    glUniform4f(uniform("tint"), 1, 1, 1, 1);
    glEnable(GL_DEPTH_TEST);
    for (int i = 0; i < 16; i++) {
        glDepthFunc(i & 1 ? GL_GREATER : GL_LESS);
        if (i & 2)
            glEnable(GL_STENCIL_TEST);
        glStencilFunc(i & 4 ? GL_NOTEQUAL : GL_EQUAL, i & 8 ? 1 : 0, 255);
        glBeginQuery(i & 1 ? GL_ANY_SAMPLES_PASSED : GL_ANY_SAMPLES_PASSED_CONSERVATIVE, queries[i]);
        draw_box(-0.81f + 0.1f * (float)i, -0.71f, 0.2f, 0.3f, 0.5f - 0.05f * (float)i, 0, 0);
        glEndQuery(i & 1 ? GL_ANY_SAMPLES_PASSED : GL_ANY_SAMPLES_PASSED_CONSERVATIVE);
        glDisable(GL_STENCIL_TEST);
    }
    glDisable(GL_DEPTH_TEST);
    for (int i = 0; i < 16; i++) {
        GLuint answer = 7;
        glGetQueryObjectuiv(queries[i], GL_QUERY_RESULT, &answer);
        answers[i] = (GLint)answer;
    }
    record("passed", 'i', 4, 1, answers);
}

static const struct {
    const char *name;
    void (*run)(void);
} families[] = {
    { "formats", formats }, { "depth", depth }, { "stencil", stencil }, { "blits", blits }, { "samples", samples }, { "blending", blending },
    { "targets", targets }, { "primitives", primitives }, { "attributes", attributes },
    { "sampling", sampling }, { "memory", memory },
};

int main(int count, char **words)
{
    static const EGLint attributes_of_context[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE };
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (count < 2 || !(out = fopen(words[1], "wb"))) {
        fprintf(stderr, "usage: families FILE [FAMILY...]\n");
        return 2;
    }
    eglInitialize(display, NULL, NULL);
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes_of_context);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        printf("no context: %#x\n", eglGetError());
        return 1;
    }
    printf("%s\n", glGetString(GL_RENDERER));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        int is_chosen = count == 2;
        for (int word = 2; word < count; word++)
            is_chosen |= !strcmp(words[word], families[i].name);
        if (!is_chosen)
            continue;
        snprintf(family, sizeof family, "%s", families[i].name);
        reset();
        families[i].run();
    }
    eglTerminate(display);
    printf("all families\n");
    if (fclose(out))
        failed = printf("the pictures cannot be written\n");
    return failed;
}
