#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

enum { NOBODY = 65534 };

static char home[] = "/tmp/test_file.XXXXXX";

/* ---- a scratch folder for each test ---- */

static int enter_scratch(void **state) {
    (void)state;
    strcpy(home, "/tmp/test_file.XXXXXX");
    umask(022);
    return mkdtemp(home) && chdir(home) == 0 ? 0 : -1;
}

static int leave_scratch(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -r %s", home, home);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text) {
    char *bytes;
    size_t n;
    assert_int_equal(wmi_file_read(path, &bytes, &n, NULL), WM_OK);
    assert_string_equal(bytes, text);
    assert_int_equal(n, strlen(text));
    free(bytes);
}

static int entries(const char *folder) {
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static wm_status replace(const char *path, const char *text, wm_error *err) {
    return wmi_file_replace(path, text, strlen(text), err);
}

static void assert_replaces(const char *path, const char *text) {
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_file_check(path, &err), WM_OK);
    if (replace(path, text, &err) != WM_OK) fail_msg("%s", err.message);
}

/* Both the check made in advance and the writing must refuse, in the same words. */
static void assert_refuses(const char *path, wm_status status, int native, const char *cause) {
    wm_error checked = WM_ERROR_INIT, written = WM_ERROR_INIT;
    assert_int_equal(wmi_file_check(path, &checked), status);
    assert_int_equal(checked.native_code, native);
    assert_non_null(strstr(checked.message, path));
    assert_non_null(strstr(checked.message, cause));
    assert_int_equal(replace(path, "new", &written), status);
    assert_string_equal(written.message, checked.message);
}

static void assert_in_child(void (*act)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* For the children, in which cmocka's own checks do not work. */
#define EXPECT(x)                                                                                            \
    do {                                                                                                     \
        if (!(x)) {                                                                                          \
            fprintf(stderr, "line %d: %s\n", __LINE__, #x);                                                  \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

/* ---- replacing ---- */

static void a_new_file_obeys_the_umask(void **state) {
    (void)state;
    umask(027);
    assert_replaces("new", "one\n");
    assert_holds("new", "one\n");
    assert_int_equal(mode_of("new"), 0640);
    assert_int_equal(entries("."), 1);
}

static void an_old_file_keeps_its_mode_and_gets_new_bytes(void **state) {
    (void)state;
    struct stat before, after;
    put("old", "old and longer");
    assert_int_equal(chmod("old", 0604), 0);
    assert_int_equal(stat("old", &before), 0);
    assert_replaces("old", "new");
    assert_int_equal(stat("old", &after), 0);
    assert_holds("old", "new");
    assert_int_equal(mode_of("old"), 0604);
    assert_true(before.st_ino != after.st_ino);
    assert_int_equal(entries("."), 1);
    assert_replaces("old", "");
    assert_holds("old", "");
}

static void checking_changes_nothing(void **state) {
    (void)state;
    struct stat before, after;
    put("old", "kept");
    assert_int_equal(stat("old", &before), 0);
    assert_int_equal(wmi_file_check("old", NULL), WM_OK);
    assert_int_equal(wmi_file_check("new", NULL), WM_OK);
    assert_int_equal(stat("old", &after), 0);
    assert_holds("old", "kept");
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    assert_int_equal(entries("."), 1);
}

static void links_are_followed(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(mkdir("sub", 0777), 0);
    put("sub/old", "old");
    assert_int_equal(symlink("sub/link", "first"), 0);
    assert_int_equal(symlink("old", "sub/link"), 0);
    assert_int_equal(symlink("sub/new", "dangling"), 0);
    assert_replaces("first", "through two links");
    assert_replaces("dangling", "through one");
    assert_holds("sub/old", "through two links");
    assert_holds("sub/new", "through one");
    assert_true(lstat("first", &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(lstat("dangling", &st) == 0 && S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_refuses("loop", WM_EIO, ELOOP, "symbolic links");
}

static void names_may_be_as_long_as_the_system_allows(void **state) {
    (void)state;
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = '\0';
    assert_replaces(name, "x");
    assert_holds(name, "x");
    name[NAME_MAX] = 'n';
    name[NAME_MAX + 1] = '\0';
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_file_check(name, &err), WM_EIO);
    assert_int_equal(err.native_code, ENAMETOOLONG);
}

static void what_cannot_be_a_file_is_refused(void **state) {
    (void)state;
    put("file", "kept");
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_refuses("folder", WM_EIO, EISDIR, "Is a directory");
    assert_refuses("folder/", WM_EIO, EISDIR, "Is a directory");
    assert_refuses("new/", WM_EIO, EISDIR, "Is a directory");
    assert_refuses("missing/new", WM_EIO, ENOENT, "No such file or directory");
    assert_refuses("", WM_EIO, ENOENT, "No such file or directory");
    assert_refuses("file/new", WM_EIO, ENOTDIR, "Not a directory");
    assert_refuses("/dev/fd/987654", WM_EIO, EBADF, "Bad file descriptor");
    assert_holds("file", "kept");
    assert_int_equal(entries("."), 2);
}

static void write_as_nobody(void) {
    wm_error err = WM_ERROR_INIT;
    EXPECT(geteuid() != 0 || (setegid(NOBODY) == 0 && seteuid(NOBODY) == 0));
    EXPECT(wmi_file_check("read-only", &err) == WM_EPERM && err.native_code == EACCES);
    EXPECT(replace("read-only", "new", &err) == WM_EPERM);
    EXPECT(wmi_file_check("locked/new", &err) == WM_EPERM && err.native_code == EACCES);
    EXPECT(replace("locked/new", "new", &err) == WM_EPERM);
    EXPECT(strcmp(err.message, "cannot write 'locked/new': Permission denied") == 0);
    EXPECT(wmi_file_check("locked/writable", &err) == WM_EPERM);
    EXPECT(replace("open", "new", &err) == WM_OK);
}

static void permissions_are_found_in_advance(void **state) {
    (void)state;
    put("read-only", "kept");
    put("open", "old");
    assert_int_equal(chmod(".", 0777), 0);
    assert_int_equal(chmod("read-only", 0444), 0);
    assert_int_equal(chmod("open", 0666), 0);
    assert_int_equal(mkdir("locked", 0755), 0);
    put("locked/writable", "kept");
    assert_int_equal(chmod("locked/writable", 0666), 0);
    assert_int_equal(chmod("locked", 0555), 0);
    assert_in_child(write_as_nobody);
    assert_holds("read-only", "kept");
    assert_holds("locked/writable", "kept");
    assert_holds("open", "new");
}

static void limit_file_size(rlim_t bytes) {
    struct rlimit limit;
    EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void replace_beyond_the_limit(void) {
    wm_error err = WM_ERROR_INIT;
    sigset_t pending;
    limit_file_size(10);
    EXPECT(replace("old", "more than ten bytes", &err) == WM_EIO);
    EXPECT(err.native_code == EFBIG);
    EXPECT(strcmp(err.message, "cannot write 'old': File too large") == 0);
    EXPECT(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 0);
}

static void a_failure_leaves_the_old_file(void **state) {
    (void)state;
    put("old", "kept");
    assert_in_child(replace_beyond_the_limit);
    assert_holds("old", "kept");
    assert_int_equal(entries("."), 1);
}

/* ---- two files that belong together ---- */

static void two_beyond_the_limit(void) {
    const wmi_file_bytes files[2] = {{"first", "short", 5}, {"second", "more than ten bytes", 19}};
    const wmi_file_bytes swapped[2] = {files[1], files[0]};
    wm_error err = WM_ERROR_INIT;
    limit_file_size(10);
    EXPECT(wmi_file_replace_two(files, &err) == WM_EIO);
    EXPECT(strcmp(err.message, "cannot write 'second': File too large") == 0);
    EXPECT(wmi_file_replace_two(swapped, &err) == WM_EIO);
    EXPECT(strcmp(err.message, "cannot write 'second': File too large") == 0);
}

static void both_files_are_replaced_or_neither(void **state) {
    (void)state;
    const wmi_file_bytes files[2] = {{"first", "one", 3}, {"second", "two", 3}};
    const wmi_file_bytes nowhere[2] = {{"first", "three", 5}, {"gone/second", "four", 4}};
    put("second", "kept");
    assert_in_child(two_beyond_the_limit);
    assert_holds("second", "kept");
    assert_int_equal(entries("."), 1);
    assert_int_equal(wmi_file_replace_two(files, NULL), WM_OK);
    assert_holds("first", "one");
    assert_holds("second", "two");
    assert_int_equal(wmi_file_replace_two(nowhere, NULL), WM_EIO);
    assert_holds("first", "one");
    assert_int_equal(entries("."), 2);
}

/* ---- what is written to rather than replaced ---- */

static void a_full_device_is_reported(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_file_check("/dev/full", NULL), WM_OK);
    assert_int_equal(replace("/dev/full", "x", &err), WM_EIO);
    assert_int_equal(err.native_code, ENOSPC);
    assert_string_equal(err.message, "cannot write '/dev/full': No space left on device");
    assert_replaces("/dev/null", "x");
    struct stat st;
    assert_true(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static void a_pipe_is_written_to(void **state) {
    (void)state;
    char text[16] = "";
    struct stat st;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_replaces("pipe", "through");
    assert_int_equal(read(reader, text, sizeof text), 7);
    assert_string_equal(text, "through");
    assert_true(stat("pipe", &st) == 0 && S_ISFIFO(st.st_mode));
    close(reader);
}

/* Between two writes of the program's own, in their order, though stdout is a
 * regular file that a rename could replace. */
static void write_to_stdout(void) {
    int fd = open("redirected", O_WRONLY | O_CREAT, 0666);
    EXPECT(dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
    EXPECT(write(STDOUT_FILENO, "a\n", 2) == 2);
    EXPECT(replace("/dev/stdout", "b\n", NULL) == WM_OK);
    EXPECT(replace("/dev/fd/1", "c\n", NULL) == WM_OK);
    EXPECT(replace("/proc/self/fd/1", "d\n", NULL) == WM_OK);
    EXPECT(write(STDOUT_FILENO, "e\n", 2) == 2);
}

static void standard_output_is_written_in_order(void **state) {
    (void)state;
    assert_in_child(write_to_stdout);
    assert_holds("redirected", "a\nb\nc\nd\ne\n");
}

static void write_to_a_closed_pipe(void) {
    int ends[2];
    char path[32];
    wm_error err = WM_ERROR_INIT;
    sigset_t pending, blocked;
    EXPECT(pipe(ends) == 0 && close(ends[0]) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    EXPECT(replace(path, "x", &err) == WM_EIO && err.native_code == EPIPE);
    EXPECT(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
    EXPECT(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGPIPE) == 0);
    /* one that the program itself left pending stays */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);
    EXPECT(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0 && raise(SIGPIPE) == 0);
    EXPECT(replace(path, "x", &err) == WM_EIO);
    EXPECT(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1);
}

static void a_closed_pipe_does_not_end_the_process(void **state) {
    (void)state;
    assert_in_child(write_to_a_closed_pipe);
}

/* A pipe that does not block takes 64 KiB at once: the rest has to wait for the
 * reader. */
static void short_writes_are_continued(void **state) {
    (void)state;
    enum { SIZE = 300000 };
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    static char sent[SIZE], got[SIZE];
    for (int i = 0; i < SIZE; i++) sent[i] = (char)(i * 31 >> 3);
    pid_t child = fork();
    if (child == 0) _exit(wmi_fd_write(ends[1], sent, SIZE, NULL) == WM_OK ? 0 : 1);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, 0);
    size_t n = 0;
    for (ssize_t r; n < SIZE && (r = read(ends[0], got + n, SIZE - n)) > 0;) n += (size_t)r;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(n, SIZE);
    assert_memory_equal(got, sent, SIZE);
    close(ends[0]);
}

/* ---- two processes ---- */

enum { WRITERS = 3, ROUNDS = 60, PAGE = 20000 };

static void write_many(char letter) {
    char page[PAGE];
    memset(page, letter, sizeof page);
    for (int i = 0; i < ROUNDS; i++) EXPECT(wmi_file_replace("shared", page, sizeof page, NULL) == WM_OK);
}

static void writers_of_one_file_do_not_mix(void **state) {
    (void)state;
    pid_t writers[WRITERS];
    put("shared", "");
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        if (writers[i] == 0) {
            write_many((char)('a' + i));
            _exit(0);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        char *bytes;
        size_t n;
        assert_int_equal(wmi_file_read("shared", &bytes, &n, NULL), WM_OK);
        assert_true(n == 0 || n == PAGE);
        for (size_t j = 1; j < n; j++) assert_int_equal(bytes[j], bytes[0]);
        free(bytes);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(entries("."), 1);
}

/* ---- reading ---- */

static void a_file_is_read_whole(void **state) {
    (void)state;
    char *bytes;
    size_t n;
    char *big = malloc(500000);
    assert_non_null(big);
    for (int i = 0; i < 500000; i++) big[i] = (char)(1 + (i * 7 >> 2) % 255);
    assert_int_equal(wmi_file_replace("big", big, 500000, NULL), WM_OK);
    assert_int_equal(wmi_file_read("big", &bytes, &n, NULL), WM_OK);
    assert_int_equal(n, 500000);
    assert_memory_equal(bytes, big, n);
    assert_int_equal(bytes[n], 0);
    free(bytes);
    free(big);
    assert_replaces("empty", "");
    assert_holds("empty", "");
}

/* Files of /proc say that they are empty. */
static void a_size_is_only_a_hint(void **state) {
    (void)state;
    char *bytes;
    size_t n;
    assert_int_equal(wmi_file_read("/proc/self/status", &bytes, &n, NULL), WM_OK);
    assert_int_equal(n, strlen(bytes));
    assert_non_null(strstr(bytes, "VmSize"));
    free(bytes);
}

static void assert_unreadable(const char *path, int native, const char *message) {
    char *bytes = NULL;
    size_t n = 42;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_file_read(path, &bytes, &n, &err), WM_EIO);
    assert_int_equal(err.native_code, native);
    assert_string_equal(err.message, message);
    assert_null(bytes);
    assert_int_equal(n, 42);
}

static void what_cannot_be_read_is_reported(void **state) {
    (void)state;
    assert_unreadable("missing", ENOENT, "cannot read 'missing': No such file or directory");
    assert_unreadable(".", EISDIR, "cannot read '.': Is a directory");
    put("huge", "");
    assert_int_equal(truncate("huge", ((off_t)4 << 30) + 1), 0);
    assert_unreadable("huge", EFBIG, "cannot read 'huge': it is larger than 4 GiB");
}

/* ---- appending ---- */

static wmi_appender *open_appender(const char *path) {
    wmi_appender *a = NULL;
    assert_int_equal(wmi_appender_open(path, &a, NULL), WM_OK);
    return a;
}

static wm_status append(wmi_appender *a, const char *text, wm_error *err) {
    return wmi_appender_add(a, text, strlen(text), err);
}

static void lines_are_appended_to_an_emptied_file(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    put("raw", "from before\n");
    wmi_appender *a = open_appender("raw");
    assert_holds("raw", "");
    assert_int_equal(append(a, "1\n2\n", NULL), WM_OK);
    assert_holds("raw", "1\n2\n");
    assert_int_equal(append(a, "", NULL), WM_OK);
    assert_int_equal(append(a, "half", &err), WM_EINVAL);
    assert_int_equal(append(a, "3\n", NULL), WM_OK);
    assert_int_equal(wmi_appender_close(a, NULL), WM_OK);
    assert_holds("raw", "1\n2\n3\n");
    assert_int_equal(wmi_appender_close(NULL, NULL), WM_OK);
}

static void a_file_has_one_writer(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    wmi_appender *first = open_appender("raw"), *second = NULL;
    assert_int_equal(append(first, "1\n", NULL), WM_OK);
    assert_int_equal(wmi_appender_open("raw", &second, &err), WM_EBUSY);
    assert_string_equal(err.message, "'raw' is being written by another process");
    assert_null(second);
    assert_holds("raw", "1\n");
    assert_int_equal(wmi_appender_close(first, NULL), WM_OK);
    assert_int_equal(wmi_appender_close(open_appender("raw"), NULL), WM_OK);
}

static void append_beyond_the_limit(void) {
    wm_error err = WM_ERROR_INIT;
    wmi_appender *a = NULL;
    EXPECT(wmi_appender_open("raw", &a, NULL) == WM_OK);
    EXPECT(append(a, "12\n45\n", NULL) == WM_OK);
    limit_file_size(10);
    EXPECT(append(a, "78\n01\n34\n", &err) == WM_EIO);
    EXPECT(err.native_code == EFBIG);
    EXPECT(strcmp(err.message, "cannot write 'raw': File too large") == 0);
    limit_file_size(RLIM_INFINITY);
    EXPECT(append(a, "99\n", NULL) == WM_OK);
    EXPECT(wmi_appender_close(a, NULL) == WM_OK);
}

/* The limit lets the line 78 and one byte of the next through before it strikes. */
static void half_a_line_is_cut_off(void **state) {
    (void)state;
    assert_in_child(append_beyond_the_limit);
    assert_holds("raw", "12\n45\n78\n99\n");
}

static void an_appender_reports_a_full_device(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    wmi_appender *a = open_appender("/dev/full");
    assert_int_equal(append(a, "1\n", &err), WM_EIO);
    assert_int_equal(err.native_code, ENOSPC);
    assert_int_equal(wmi_appender_close(a, NULL), WM_OK);
}

static void devices_have_many_writers(void **state) {
    (void)state;
    wmi_appender *first = open_appender("/dev/null"), *second = open_appender("/dev/null");
    assert_int_equal(append(second, "1\n", NULL), WM_OK);
    assert_int_equal(wmi_appender_close(first, NULL), WM_OK);
    assert_int_equal(wmi_appender_close(second, NULL), WM_OK);
}

static void an_appender_refuses_what_is_no_file(void **state) {
    (void)state;
    wmi_appender *a = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_appender_open(".", &a, &err), WM_EIO);
    assert_string_equal(err.message, "cannot write '.': Is a directory");
    assert_int_equal(wmi_appender_open("missing/raw", &a, &err), WM_EIO);
    assert_null(a);
}

static void one_file_has_many_names(void **state) {
    (void)state;
    put("a", "1");
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(symlink("new", "dangling"), 0);
    assert_int_equal(symlink("..", "folder/up"), 0);
    assert_int_equal(link("a", "hard"), 0);
    static const char *const same[][2] = {{"a", "./a"},        {"a", "folder/../a"}, {"a", "link"},
                                          {"new", "dangling"}, {"new", "./new"},     {"folder/up/a", "link"}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_true(wmi_file_same(same[i][0], same[i][1]));
        assert_true(wmi_file_same(same[i][1], same[i][0]));
    }
    assert_false(wmi_file_same("a", "new"));
    assert_false(wmi_file_same("a", "folder/a"));
    assert_false(wmi_file_same("a", "hard")); /* a rename parts them */
    assert_false(wmi_file_same("/dev/null", "/dev/null"));
    assert_false(wmi_file_same("missing/a", "missing/a"));
}

static void a_file_can_be_open_already(void **state) {
    (void)state;
    int fd = open("a", O_WRONLY | O_CREAT, 0666);
    char name[64];
    assert_true(fd >= 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    assert_int_equal(symlink(name, "link"), 0);
    assert_true(wmi_file_is_open_as("./a", fd));
    assert_false(wmi_file_is_open_as("b", fd));
    assert_false(wmi_file_is_open_as(name, fd)); /* the descriptor itself */
    assert_true(wmi_file_is_replaced("a"));
    assert_true(wmi_file_is_replaced("b"));
    assert_false(wmi_file_is_replaced(name));
    assert_false(wmi_file_is_replaced("link"));
    assert_false(wmi_file_is_replaced("/dev/null"));
    /* Through the link too the bytes go on where the descriptor stands. */
    assert_int_equal(wmi_fd_write(fd, "one ", 4, NULL), WM_OK);
    assert_int_equal(replace("link", "two", NULL), WM_OK);
    assert_int_equal(close(fd), 0);
    assert_holds("a", "one two");
}

static void a_nul_byte_is_no_text(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    char *bytes = NULL;
    size_t n = 0;
    int fd = open("a", O_WRONLY | O_CREAT, 0666);
    assert_int_equal(wmi_fd_write(fd, "text\0", 5, NULL), WM_OK);
    assert_int_equal(close(fd), 0);
    assert_int_equal(wmi_file_read("a", &bytes, &n, &err), WM_EPARSE);
    assert_string_equal(err.message, "'a' holds a NUL byte: it is no text");
    assert_int_equal(wmi_file_read("/dev/zero", &bytes, &n, &err), WM_EPARSE);
    assert_null(bytes);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter_scratch, leave_scratch)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(a_new_file_obeys_the_umask),
        IN_SCRATCH(an_old_file_keeps_its_mode_and_gets_new_bytes),
        IN_SCRATCH(checking_changes_nothing),
        IN_SCRATCH(links_are_followed),
        IN_SCRATCH(names_may_be_as_long_as_the_system_allows),
        IN_SCRATCH(what_cannot_be_a_file_is_refused),
        IN_SCRATCH(permissions_are_found_in_advance),
        IN_SCRATCH(a_failure_leaves_the_old_file),
        IN_SCRATCH(both_files_are_replaced_or_neither),
        IN_SCRATCH(a_full_device_is_reported),
        IN_SCRATCH(a_pipe_is_written_to),
        IN_SCRATCH(standard_output_is_written_in_order),
        IN_SCRATCH(a_closed_pipe_does_not_end_the_process),
        IN_SCRATCH(short_writes_are_continued),
        IN_SCRATCH(writers_of_one_file_do_not_mix),
        IN_SCRATCH(a_file_is_read_whole),
        IN_SCRATCH(a_size_is_only_a_hint),
        IN_SCRATCH(what_cannot_be_read_is_reported),
        IN_SCRATCH(a_nul_byte_is_no_text),
        IN_SCRATCH(one_file_has_many_names),
        IN_SCRATCH(a_file_can_be_open_already),
        IN_SCRATCH(lines_are_appended_to_an_emptied_file),
        IN_SCRATCH(a_file_has_one_writer),
        IN_SCRATCH(half_a_line_is_cut_off),
        IN_SCRATCH(an_appender_reports_a_full_device),
        IN_SCRATCH(devices_have_many_writers),
        IN_SCRATCH(an_appender_refuses_what_is_no_file),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
