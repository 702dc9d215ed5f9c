import { expect, test } from "vitest";
import { judgeSandbox } from "../../../src/doctor/sandbox.ts";

const TOOL = { kind: "bubblewrap", file: "/usr/bin/bwrap", nsenter: "/usr/bin/nsenter" } as const;
const OLD = { ...TOOL, openNamespacesReason: "bubblewrap is older than 0.8" };

test("judgeSandbox › warns if commands can create their own user namespaces", () => {
  expect(judgeSandbox("auto", TOOL)).toMatchObject({ level: "ok", text: "auto, bubblewrap works" });
  expect(judgeSandbox("required", OLD)).toMatchObject({
    level: "warn",
    text: expect.stringContaining("its own user namespace (bubblewrap is older than 0.8)"),
    remedy: expect.stringContaining("0.8 or newer"),
  });
  expect(judgeSandbox("off", OLD)).toMatchObject({
    level: "ok",
    text: expect.stringMatching(/^off; .*\(bubblewrap is older than 0.8\): set teams.sandbox.mode/),
  });
});

test("judgeSandbox › names everything that is missing", () => {
  const { nsenter: _, ...alone } = OLD;
  expect(judgeSandbox("auto", alone)).toMatchObject({
    level: "warn",
    text: expect.stringMatching(/user namespace.*nsenter is missing/),
    remedy: expect.stringMatching(/0\.8 or newer.*util-linux/),
  });
});
