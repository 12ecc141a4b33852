/* A client of OpenGL ES without a window: it prints which GPU there is, and lets the GPU copy a buffer, whose contents it compares. */
#include <stdio.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>

enum { COUNT = 4096 };

static int failed(const char *what)
{
    printf("%s: %#x\n", what, eglGetError());
    return 1;
}

int main(void)
{
    static const EGLint attributes[] = { EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE };
    static unsigned data[COUNT];
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL))
        return failed("no display");
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        return failed("no context");
    printf("%s\n%s\n%s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION), glGetString(GL_EXTENSIONS));
    printf("%s\n", eglQueryString(display, EGL_EXTENSIONS));

    GLuint buffers[2];
    for (unsigned i = 0; i < COUNT; i++)
        data[i] = i * 2654435761u;
    glGenBuffers(2, buffers);
    glBindBuffer(GL_COPY_READ_BUFFER, buffers[0]);
    glBufferData(GL_COPY_READ_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffers[1]);
    glBufferData(GL_COPY_WRITE_BUFFER, sizeof data, NULL, GL_STATIC_READ);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, sizeof data);
    const void *copy = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, sizeof data, GL_MAP_READ_BIT);
    const int is_right = copy && !memcmp(copy, data, sizeof data) && glGetError() == GL_NO_ERROR;
    printf("copy: %s\n", is_right ? "right" : "wrong");
    eglTerminate(display);
    return 0;
}
