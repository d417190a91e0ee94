/* Signals that end a program which holds a GPU's clocks. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };
static bool caught[SIGNALS];
static volatile sig_atomic_t received;

static void on_signal(int number) {
    static const char said[] =
        "\nending after this run, to give the clocks back; a second signal ends it at once and leaves them\n";
    received = number;
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
}

void wmi_interrupt_catch(void) {
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, theirs;
    sigemptyset(&ours.sa_mask);
    received = 0;
    for (int i = 0; i < SIGNALS; i++)
        caught[i] = sigaction(signals[i], NULL, &theirs) == 0 && !(theirs.sa_flags & SA_SIGINFO) &&
                    theirs.sa_handler == SIG_DFL && sigaction(signals[i], &ours, NULL) == 0;
}

void wmi_interrupt_leave(void) {
    for (int i = 0; i < SIGNALS; i++)
        if (caught[i]) signal(signals[i], SIG_DFL);
    memset(caught, 0, sizeof caught);
}

int wmi_interrupted(void) { return received; }
