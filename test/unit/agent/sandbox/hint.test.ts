import { expect, test } from "vitest";
import { sandboxHint } from "../../../../src/agent/sandbox/hint.ts";

test.each([
  "unshare: unshare failed: No space left on device",
  "cannot clone: No space left on device",
  "[12:34] FATAL:zygote_host_impl_linux.cc(126)] No usable sandbox! Update your kernel",
  "fatal: could not lock config file .git/config: Read-only file system",
])("sandboxHint › names the way out of the sandbox after: %s", (output) => {
  expect(sandboxHint(output)).toContain("dangerouslyDisableSandbox");
});

test.each(["cp: error writing 'big': No space left on device", "3 tests failed"])(
  "sandboxHint › is undefined after: %s",
  (output) => {
    expect(sandboxHint(output)).toBeUndefined();
  },
);
