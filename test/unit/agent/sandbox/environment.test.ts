import { expect, test } from "vitest";
import { sandboxEnvironment, splitEnvironment } from "../../../../src/agent/sandbox/environment.ts";
import type { Env } from "../../../../src/os/env.ts";

const inside = (env: Env, more: Partial<Parameters<typeof sandboxEnvironment>[1]> = {}): Env =>
  sandboxEnvironment(env, { temporary: "/tmp", passed: [], isWritable: () => false, ...more });

test("sandboxEnvironment › removes secrets and variables that lead out of the sandbox, except passed names", () => {
  const env = {
    HOME: "/h",
    A_TOKEN: "x",
    B_TOKEN: "y",
    DBUS_SESSION_BUS_ADDRESS: "unix:…",
    TMUX_PANE: "%1",
    LANG: "C",
  };
  expect(inside(env, { passed: ["B_TOKEN"] })).toMatchObject({
    HOME: "/h",
    B_TOKEN: "y",
    LANG: "C",
    TMPDIR: "/tmp",
  });
  for (const name of ["A_TOKEN", "DBUS_SESSION_BUS_ADDRESS", "TMUX_PANE"])
    expect(inside(env)).not.toHaveProperty(name);
});

test("sandboxEnvironment › moves caches that cannot be written", () => {
  expect(inside({ HOME: "/h" })).toMatchObject({
    XDG_CACHE_HOME: "/tmp/cache",
    npm_config_cache: "/tmp/cache/npm",
  });
  expect(inside({ HOME: "/h" }, { isWritable: () => true })).not.toHaveProperty("npm_config_cache");
});

test("sandboxEnvironment › appends to the git settings in the environment", () => {
  const env = inside({ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "a.b", GIT_CONFIG_VALUE_0: "c" });
  expect(env).toMatchObject({
    GIT_CONFIG_COUNT: "4",
    GIT_CONFIG_KEY_0: "a.b",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
  });
});

test("sandboxEnvironment › names the proxy in both spellings", () => {
  const env = inside({}, { proxy: "http://127.0.0.1:3128" });
  for (const name of ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
    expect(env[name]).toBe("http://127.0.0.1:3128");
  expect(inside({})).not.toHaveProperty("HTTPS_PROXY");
});

test("sandboxEnvironment › keeps the host's proxies only if the command has the host's network", () => {
  const env = { https_proxy: "http://a:1", npm_config_proxy: "http://a:1", no_proxy: "b" };
  expect(inside(env, { hasNetwork: true })).toMatchObject(env);
  for (const name of Object.keys(env)) expect(inside(env)).not.toHaveProperty(name);
  expect(inside(env, { proxy: "http://127.0.0.1:3128" }).npm_config_proxy).toBeUndefined();
  expect(inside(env, { passed: ["https_proxy"] })).toHaveProperty("https_proxy");
});

test("splitEnvironment › passes loader variables only to the command", () => {
  expect(splitEnvironment({ LD_PRELOAD: "a", PATH: "b", GCONV_PATH: "c" })).toEqual({
    outer: { PATH: "b" },
    inner: { LD_PRELOAD: "a", GCONV_PATH: "c" },
  });
});
