import type { Env } from "../os/env.ts";
import { findSandbox, type NoSandbox, type SandboxTool } from "../os/sandbox/find-sandbox.ts";
import type { SandboxMode } from "../schema/permission-modes.ts";
import { loadSettings } from "../settings/settings.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Checks whether this machine has the sandbox that the settings of a directory want. */
export async function checkSandbox(root: string, cwd: string, env: Env): Promise<Finding> {
  return judgeSandbox(modeIn(root, cwd), await findSandbox(env));
}

/** Judges the sandbox of this machine by the mode that the settings want. Pure. */
export function judgeSandbox(mode: SandboxMode, found: SandboxTool | NoSandbox): Finding {
  if ("reason" in found) {
    if (mode === "off") return ok("sandbox", `off; this machine has none: ${found.reason}`);
    const effect = mode === "required" ? "no agent starts" : "agents' commands run as you";
    const report = mode === "required" ? fail : warn;
    return report("sandbox", `${mode}, but ${found.reason}; ${effect}`, found.remedy);
  }
  const { kind, nsenter, allowsNamespaces } = found;
  if (mode === "off") return ok("sandbox", `off; ${kind} works: set teams.sandbox.mode to auto`);
  if (kind === "bubblewrap" && nsenter === undefined) {
    return warn(
      "sandbox",
      `${mode}, ${kind} works, but nsenter is missing; commands cannot share a network`,
      "Install util-linux.",
    );
  }
  if (allowsNamespaces !== undefined) {
    return warn(
      "sandbox",
      `${mode}, ${kind} works, but commands can make user namespaces of their own (${allowsNamespaces})`,
      "Install bubblewrap 0.8 or newer; in a container, let it write /proc/sys/user.",
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
