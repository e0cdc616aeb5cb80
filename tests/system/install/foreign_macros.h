// Macros that headers of other libraries define under plain names, each with an expansion that compiles nowhere. A host may
// include those headers before coordkit's, so no public header may use one of these names as its own
// (tests/system/install/beside_others.cmake; names that nothing can survive are listed there).
#pragma once

// X11: X.h, Xlib.h, Xutil.h, Xos.h, Xlibint.h
#define AllTemporary @
#define Above @
#define Always @
#define AnyButton @
#define AnyKey @
#define AnyPropertyType @
#define BadAccess @
#define BadAlloc @
#define BadLength @
#define BadMatch @
#define BadName @
#define BadRequest @
#define BadValue @
#define BadWindow @
#define Below @
#define Bool @
#define BottomIf @
#define CapButt @
#define ClientMessage @
#define Complex @
#define Convex @
#define CopyFromParent @
#define CurrentTime @
#define DefaultScreen(display) @
#define DestroyNotify @
#define DirectColor @
#define DontCareState @
#define Expose @
#define False @
#define FillSolid @
#define GenericEvent @
#define GrayScale @
#define IconicState @
#define InputFocus @
#define KeyPress @
#define KeyRelease @
#define LSBFirst @
#define LineSolid @
#define MSBFirst @
#define NoSymbol @
#define Nonconvex @
#define None @
#define NormalState @
#define NotUseful @
#define Opposite @
#define ParentRelative @
#define PointerRoot @
#define PointerWindow @
#define RootWindow(display, screen) @
#define ScreenCount(display) @
#define StaticGray @
#define Success @
#define TopIf @
#define True @
#define TrueColor @
#define Unsorted @
#define WhenMapped @
#define YSorted @
#define index(text, character) @
#define rindex(text, character) @

// Qt: qglobal.h, qobjectdefs.h
#define emit @
#define forever @
#define foreach(variable, container) @
#define signals @
#define slots @

// Windows: windef.h, winnt.h, wingdi.h, winuser.h, winbase.h, rpcndr.h, math.h
#define ABSOLUTE @
#define APIENTRY @
#define CALLBACK @
#define CONST @
#define CREATE_NEW @
#define CopyFile @
#define CreateEvent @
#define CreateFile @
#define CreateMutex @
#define CreateSemaphore @
#define CreateWindow @
#define DELETE @
#define DIFFERENCE @
#define DOMAIN @
#define DeleteFile @
#define ERROR @
#define EncryptFile @
#define FALSE @
#define FAR @
#define GENERIC_READ @
#define GetClassName @
#define GetCurrentTime() @
#define GetJob @
#define GetMessage @
#define GetObject @
#define GetUserName @
#define IGNORE @
#define IN @
#define INFINITE @
#define LoadString @
#define MoveFile @
#define NEAR @
#define NO_ERROR @
#define OPAQUE @
#define OPEN_EXISTING @
#define OPTIONAL @
#define OUT @
#define OVERFLOW @
#define OpenMutex @
#define OpenSemaphore @
#define PASCAL @
#define PostMessage @
#define RELATIVE @
#define RemoveDirectory @
#define ReportEvent @
#define STATUS_PENDING @
#define STRICT @
#define SendMessage @
#define TRANSPARENT @
#define TRUE @
#define UNDERFLOW @
#define VOID @
#define WINAPI @
#define Yield() @
#define cdecl @
#define far @
#define hyper @
#define interface @
#define max(a, b) @
#define min(a, b) @
#define near @
#define pascal @
#define small @
#define uuid @

// The C library and compilers: sys/sysmacros.h, sys/param.h, complex.h, termios.h, gnu++ modes
#undef major
#undef minor
#undef makedev
#undef linux
#undef unix
#undef MIN
#undef MAX
#define B0 @
#define B50 @
#define HUGE @
#define I @
#define MAX(a, b) @
#define MIN(a, b) @
#define complex @
#define howmany(x, y) @
#define i386 @
#define imaginary @
#define isset(a, bit) @
#define linux @
#define major(device) @
#define makedev(major, minor) @
#define minor(device) @
#define powerof2(x) @
#define roundup(x, y) @
#define setbit(a, bit) @
#define sparc @
#define sun @
#define unix @

// curses, flex
#define BEGIN @
#define COLS @
#define ECHO @
#define ERR @
#define INITIAL @
#define KEY_ENTER @
#define LINES @
#define OK @
#define REJECT @
#define beep @
#define border(ls, rs, ts, bs, tl, tr, bl, br) @
#define box(window, v, h) @
#define filter() @
#define stdscr @
#define timeout(delay) @

// Perl, R, Ruby, Tcl
#define Calloc(n, type) @
#define Copy(from, to, n, type) @
#define Free(pointer) @
#define Move(from, to, n, type) @
#define New(id, pointer, n, type) @
#define Newx(pointer, n, type) @
#define Null(type) @
#define Nullch @
#define PUSHs(value) @
#define Realloc(pointer, n, type) @
#define Renew(pointer, n, type) @
#define SP @
#define ST(n) @
#define Safefree(pointer) @
#define T_NONE @
#define Zero(pointer, n, type) @
#define dXSARGS @
#define do_close @
#define do_open @
#define seed() @

// glog, Abseil's log, test frameworks, PostgreSQL, GLib, macOS
#define ABS(x) @
#define ASSERT(x) @
#define Abs(x) @
#define Assert(x) @
#define BIT(n) @
#define CAPTURE(x) @
#define CHECK(x) @
#define CHECK_EQ(a, b) @
#define CLAMP(x, low, high) @
#define DCHECK(x) @
#define DEBUG @
#define DEBUG1 @
#define DLOG(severity) @
#define FATAL @
#define GIVEN(x) @
#define INFO @
#define LOG(severity) @
#define Max(a, b) @
#define Min(a, b) @
#define NO @
#define NOTICE @
#define Nil @
#define PANIC @
#define PCHECK(x) @
#define PI @
#define REQUIRE(x) @
#define SCENARIO(...) @
#define SECTION(...) @
#define TEST_CASE(...) @
#define THEN(x) @
#define TRACE @
#define Trap(condition, type) @
#define UNUSED @
#define VERIFY(x) @
#define VLOG(level) @
#define WARN @
#define WARNING @
#define WHEN(x) @
#define YES @
#define container_of(pointer, type, member) @
#define elog(level, ...) @
#define ensure(x) @
#define ereport(level, ...) @
#define gettext(text) @
#define likely(x) @
#define nil @
#define unlikely(x) @
#define _(text) @

// Macros of applications
#define ALL @
#define ANY @
#define BAD @
#define DEFAULT @
#define EMPTY @
#define NONE @
#define UNKNOWN @
