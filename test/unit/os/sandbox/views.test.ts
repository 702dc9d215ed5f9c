import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bubblewrapArgs } from "../../../../src/os/sandbox/bubblewrap.ts";
import { bubblewrapProblem, findSandbox, probeIsolation } from "../../../../src/os/sandbox/find-sandbox.ts";
import { seatbeltArgs, seatbeltProfile } from "../../../../src/os/sandbox/seatbelt.ts";
import type { SandboxPlace, SandboxView } from "../../../../src/os/sandbox/view.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const directory = (path: string, access: SandboxPlace["access"], source?: string): SandboxPlace => ({
  path,
  access,
  isDirectory: true,
  ...(source === undefined ? {} : { source }),
});

const VIEW: SandboxView = {
  places: [
    directory("/home/a/w/.git/hooks", "read"),
    { path: "/home/a/.netrc", access: "none", isDirectory: false },
    directory("/home/a/w", "write"),
    directory("/home/a/.ssh", "none"),
    directory("/home/a/.ssh", "read"),
    directory("/tmp", "write", "/private/tmp"),
  ],
  emptyFile: "/private/empty",
  network: "own",
};

describe("bubblewrapArgs", () => {
  test("mounts parents first, and the stricter of two rules for one path last", () => {
    const args = bubblewrapArgs(VIEW, { cwd: "/home/a/w", words: ["sh", "-c", "a b"] }).join(" ");
    expect(args.slice(args.indexOf("--bind-try"))).toBe(
      [
        "--bind-try /private/tmp /tmp --bind-try /home/a/w /home/a/w",
        "--ro-bind-try /home/a/.ssh /home/a/.ssh --ro-bind /private/empty /home/a/.netrc --tmpfs /home/a/.ssh",
        "--ro-bind-try /home/a/w/.git/hooks /home/a/w/.git/hooks --chdir /home/a/w -- sh -c a b",
      ].join(" "),
    );
  });

  test("passes every word unchanged, and keeps loader variables away from bwrap", () => {
    const words = ["echo", "$(id)", "a\nb", "--bind"];
    const args = bubblewrapArgs(VIEW, { cwd: "/", env: { LD_PRELOAD: "./x.so" }, words });
    expect(args.slice(-5)).toEqual(["--", ...words]);
    expect(args.join(" ")).toContain("--setenv LD_PRELOAD ./x.so");
  });

  test("disables additional user namespaces if bubblewrap can", () => {
    const args = (allowsNamespaces: boolean) =>
      bubblewrapArgs({ ...VIEW, allowsNamespaces }, { cwd: "/", words: ["true"] });
    expect(args(false)).toContain("--disable-userns");
    expect(args(true)).not.toContain("--disable-userns");
  });

  test("has the machine's network only if the view allows it", () => {
    const args = (network: SandboxView["network"]) =>
      bubblewrapArgs({ ...VIEW, network }, { cwd: "/", words: ["true"] });
    expect(args("own")).toContain("--unshare-net");
    for (const network of ["all", "joined"] as const) expect(args(network)).not.toContain("--unshare-net");
  });
});

describe("seatbeltProfile", () => {
  test("quotes paths, and puts the rule for the most specific path last", () => {
    const profile = seatbeltProfile({
      ...VIEW,
      places: [directory('/a "b"\\c/.git', "read"), directory('/a "b"\\c', "write")],
    });
    const [writable, readOnly] = [
      '(allow file-read* file-write* (subpath "/a \\"b\\"\\\\c"))',
      '(deny file-write* (subpath "/a \\"b\\"\\\\c/.git"))',
    ];
    expect(profile.indexOf(writable)).toBeGreaterThan(profile.indexOf("(deny file-write*)\n"));
    expect(profile.indexOf(readOnly)).toBeGreaterThan(profile.indexOf(writable));
    expect(profile.split("(").length).toBe(profile.split(")").length);
  });

  test("hides a file and a directory, and denies the network except the proxy", () => {
    const profile = seatbeltProfile({ ...VIEW, network: { proxyPort: 4711 } });
    expect(profile).toContain('(deny file-read* file-write* (literal "/home/a/.netrc"))');
    expect(profile).toContain('(deny file-read* file-write* (subpath "/home/a/.ssh"))');
    expect(profile).toContain('(deny network*)\n(allow network-outbound (remote ip "localhost:4711"))');
    expect(seatbeltProfile({ ...VIEW, network: "all" })).not.toContain("network");
    expect(seatbeltArgs(VIEW, ["sh", "-c", "x"]).slice(2)).toEqual(["--", "sh", "-c", "x"]);
  });
});

describe("probeIsolation", () => {
  const probe = (closed: string | undefined, open: string | undefined) =>
    probeIsolation(async (allowsNamespaces) => (allowsNamespaces ? open : closed));

  test("omits --disable-userns with a bubblewrap before 0.8, and returns the reason", async () => {
    expect(await probe(undefined, "never asked")).toEqual({});
    expect(await probe("bwrap: Unknown option --disable-userns\n", undefined)).toEqual({
      openNamespacesReason: "bubblewrap is older than 0.8",
    });
  });

  test.each([
    "bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system",
    "bwrap: sysctl user.max_user_namespaces = 1: Permission denied",
    "bwrap: unshare user ns: No space left on device",
    "bwrap: creation of new user namespaces was not disabled as requested",
  ])("omits --disable-userns if the machine refuses it: %s", async (message) => {
    expect(await probe(`${message}\n`, undefined)).toEqual({ openNamespacesReason: message });
  });

  test("keeps --disable-userns after another failure, which may be temporary", async () => {
    const busy = "bwrap: Creating new namespace failed: Resource temporarily unavailable";
    expect(await probe(busy, undefined)).toEqual({ failure: busy });
  });

  test("returns the failure of a sandbox that does not work at all", async () => {
    expect(await probe("bwrap: Unknown option --disable-userns", "second")).toEqual({ failure: "second" });
  });
});

describe("findSandbox", () => {
  test("names the package to install if bubblewrap is missing", async () => {
    expect(await findSandbox({ PATH: "/nowhere" }, "linux")).toEqual({
      reason: "bubblewrap is not installed",
      remedy: expect.stringContaining("apt install bubblewrap"),
    });
  });

  test("ignores a bwrap outside the system's directories", async () => {
    const project = temporaryDirectory();
    writeFileSync(join(project, "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await findSandbox({ PATH: project }, "linux")).toMatchObject({
      reason: "bubblewrap is not installed",
    });
  });

  test.each([
    ["bwrap: No permissions to create new namespace, likely because …", false, /user namespaces are off/],
    ["bwrap: setting up uid map: Permission denied", false, /user namespaces are off/],
    ["bwrap: No permissions to create new namespace", true, /this container does not allow/],
    [
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      true,
      /this container does not allow/,
    ],
    ["bwrap: Unknown option --x", false, /bubblewrap does not work/],
    ["", false, /no message/],
  ])("explains %j (in a container: %s)", (stderr, isContainer, reason) => {
    expect(bubblewrapProblem(stderr, isContainer).reason).toMatch(reason);
  });

  test("names a system that has no sandbox", async () => {
    expect(await findSandbox({}, "freebsd")).toMatchObject({ reason: expect.stringContaining("freebsd") });
  });
});
