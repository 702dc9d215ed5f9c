import { expect, test } from "vitest";
import { judgeSandbox } from "../../../src/doctor/sandbox.ts";

const TOOL = { kind: "bubblewrap", file: "/usr/bin/bwrap", nsenter: "/usr/bin/nsenter" } as const;

test("judgeSandbox › has a word for a bubblewrap that leaves user namespaces open", () => {
  expect(judgeSandbox("auto", TOOL)).toMatchObject({ level: "ok", text: "auto, bubblewrap works" });
  const old = { ...TOOL, allowsNamespaces: "bubblewrap is older than 0.8" };
  expect(judgeSandbox("required", old)).toMatchObject({
    level: "warn",
    text: expect.stringContaining("user namespaces of their own (bubblewrap is older than 0.8)"),
    remedy: expect.stringContaining("0.8 or newer"),
  });
  expect(judgeSandbox("off", old)).toMatchObject({ level: "ok" });
});
