// The names of the Windows interface that VMA's own tests use, on Linux. The tests are only compiled where _WIN32 is
// defined, and take from Windows no more than events, a clock and checked string functions.
#pragma once

#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <cwchar>
#include <mutex>
#include <string>
#include <thread>

using DWORD = uint32_t;
using WORD = uint16_t;
using BOOL = int;
using HANDLE = void *;
using HINSTANCE = void *;
using HWND = void *;
using HMONITOR = void *;
using LPCWSTR = const wchar_t *;
struct SECURITY_ATTRIBUTES;

#define TRUE 1
#define FALSE 0
#define INFINITE 0xFFFFFFFFu
#define MAX_PATH 260
#define MAXIMUM_WAIT_OBJECTS 64
#define ZeroMemory(destination, size) std::memset(destination, 0, size)
#define _countof(array) (sizeof(array) / sizeof((array)[0]))

// An event object: set until it is reset, or until the first waiter has seen it.
struct Event {
    std::mutex lock;
    std::condition_variable changed;
    bool manual_reset;
    bool set;
};

inline HANDLE CreateEvent(SECURITY_ATTRIBUTES *, BOOL manual_reset, BOOL initial, LPCWSTR) {
    auto event = new Event;
    event->manual_reset = manual_reset != 0;
    event->set = initial != 0;
    return event;
}

inline BOOL SetEvent(HANDLE handle) {
    auto event = static_cast<Event *>(handle);
    std::lock_guard<std::mutex> guard(event->lock);
    event->set = true;
    event->changed.notify_all();
    return TRUE;
}

inline DWORD WaitForSingleObject(HANDLE handle, DWORD) {
    auto event = static_cast<Event *>(handle);
    std::unique_lock<std::mutex> guard(event->lock);
    event->changed.wait(guard, [event] { return event->set; });
    if (!event->manual_reset) event->set = false;
    return 0;
}

// Waits for all of the events; the tests never wait for any of several.
inline DWORD WaitForMultipleObjects(DWORD count, const HANDLE *handles, BOOL, DWORD milliseconds) {
    for (DWORD index = 0; index < count; ++index) WaitForSingleObject(handles[index], milliseconds);
    return 0;
}

inline BOOL CloseHandle(HANDLE handle) {
    delete static_cast<Event *>(handle);
    return TRUE;
}

inline DWORD GetTickCount() {
    using namespace std::chrono;
    return static_cast<DWORD>(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

inline void Sleep(DWORD milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

inline int fopen_s(FILE **file, const char *path, const char *mode) {
    *file = std::fopen(path, mode);
    return *file ? 0 : 1;
}

inline int localtime_s(std::tm *result, const std::time_t *time) { return localtime_r(time, result) ? 0 : 1; }

inline int strcpy_s(char *destination, size_t size, const char *source) {
    return std::snprintf(destination, size, "%s", source) < static_cast<int>(size) ? 0 : 1;
}

template <size_t Size, typename... Arguments>
int swprintf_s(wchar_t (&destination)[Size], const wchar_t *format, Arguments... arguments) {
    return std::swprintf(destination, Size, format, arguments...);
}

// VkDeviceSize and unsigned long long are one type on Windows and two here, which the template of the tests does not take.
inline unsigned long long align_up(unsigned long value, unsigned long long alignment) {
    return (value + alignment - 1) / alignment * alignment;
}
