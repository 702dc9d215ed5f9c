import type { Env } from "../os/env.ts";
import { findSandbox } from "../os/sandbox/find-sandbox.ts";
import type { SandboxMode } from "../schema/permission-modes.ts";
import { loadSettings } from "../settings/settings.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Checks whether this machine has the sandbox that the settings of a directory want. */
export async function checkSandbox(root: string, cwd: string, env: Env): Promise<Finding> {
  const mode = modeIn(root, cwd);
  const found = await findSandbox(env);
  if ("reason" in found) {
    if (mode === "off") return ok("sandbox", `off; this machine has none: ${found.reason}`);
    const effect = mode === "required" ? "no agent starts" : "agents' commands run as you";
    const report = mode === "required" ? fail : warn;
    return report("sandbox", `${mode}, but ${found.reason}; ${effect}`, found.remedy);
  }
  const { kind, nsenter } = found;
  if (mode === "off") return ok("sandbox", `off; ${kind} works: set teams.sandbox.mode to auto`);
  if (kind === "bubblewrap" && nsenter === undefined) {
    return warn(
      "sandbox",
      `${mode}, ${kind} works, but nsenter is missing; commands cannot share a network`,
      "Install util-linux.",
    );
  }
  return ok("sandbox", `${mode}, ${kind} works`);
}

/** Settings that cannot be read are a finding of their own. */
function modeIn(root: string, cwd: string): SandboxMode {
  try {
    return loadSettings(root, cwd).teams.sandbox.mode;
  } catch {
    return "off";
  }
}
