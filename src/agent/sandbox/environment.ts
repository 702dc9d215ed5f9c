import { join } from "node:path";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { isProxyName, isSecretName } from "../../os/redact.ts";
import { changesLoading, leadsOutside } from "./secrets.ts";

interface EnvironmentOptions {
  /** The directory for temporary files, as commands see it. */
  readonly temporary: string;
  /** URL of the sandbox's proxy, as commands reach it. */
  readonly proxy?: string | undefined;
  /** Whether commands have the network of this machine, and thus reach its proxies. */
  readonly hasNetwork?: boolean;
  /** Names of secret variables that commands may have. */
  readonly passed: readonly string[];
  /** Whether commands may write a path. */
  isWritable(path: string): boolean;
}

/** Hosts that are never reached through the proxy. */
const NO_PROXY = "localhost,127.0.0.1,::1";

/**
 * Returns the environment of a command in the sandbox: without secrets and without variables that lead to sockets outside; caches of
 * package managers go to the temporary directory unless they may be written. Pure except for `isWritable`.
 */
export function sandboxEnvironment(env: Env, options: EnvironmentOptions): Env {
  const { temporary, proxy, hasNetwork = false, passed, isWritable } = options;
  const kept = Object.entries(env).filter(
    ([name]) => passed.includes(name) || !isControlledInside(name, hasNetwork),
  );
  const home = homeDirectory(env);
  const caches = {
    ...(isWritable(env.XDG_CACHE_HOME ?? join(home, ".cache"))
      ? {}
      : { XDG_CACHE_HOME: join(temporary, "cache") }),
    ...(isWritable(join(home, ".npm")) ? {} : { npm_config_cache: join(temporary, "cache", "npm") }),
  };
  return {
    ...Object.fromEntries(kept),
    ...caches,
    ...gitVariables(env),
    ...(proxy === undefined ? {} : proxyVariables(proxy)),
    TMPDIR: temporary,
    TEAMS_SANDBOX: "1",
  };
}

/** Returns whether the sandbox sets or hides a variable, regardless of its value outside. */
export function isControlledInside(name: string, hasNetwork: boolean): boolean {
  const isHidden = leadsOutside(name) || isSecretName(name);
  return name === "TMPDIR" || isHidden || (!hasNetwork && isProxyName(name));
}

/** Settings that make git start processes which outlive its command: the end of the command would kill them halfway. */
const GIT_SETTINGS = [
  ["core.fsmonitor", "false"],
  ["gc.autoDetach", "false"],
  ["maintenance.autoDetach", "false"],
] as const;

/** Adds git's settings to the settings that the environment already has (git(1), GIT_CONFIG_COUNT). */
function gitVariables(env: Env): Env {
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  const start = Number.isInteger(count) && count > 0 ? count : 0;
  const pairs = GIT_SETTINGS.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${start + i}`, key],
    [`GIT_CONFIG_VALUE_${start + i}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(start + GIT_SETTINGS.length) };
}

/** Both spellings: curl ignores HTTP_PROXY, other programs ignore http_proxy. Node's fetch needs another variable. */
function proxyVariables(url: string): Env {
  const values = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY };
  const lower = Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...values, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: "1" };
}

/** Splits an environment: variables of the loader must reach only the command, not the program that creates its sandbox. */
export function splitEnvironment(env: Env): { readonly outer: Env; readonly inner: Env } {
  const entries = Object.entries(env);
  return {
    outer: Object.fromEntries(entries.filter(([name]) => !changesLoading(name))),
    inner: Object.fromEntries(entries.filter(([name]) => changesLoading(name))),
  };
}
