import { randomBytes } from "node:crypto";
import { messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import type { ConnectProxy } from "../../os/net/connect-proxy.ts";
import { findSandbox, type NoSandbox } from "../../os/sandbox/find-sandbox.ts";
import { hostMatches, isPrivateHost, plainHost } from "../permissions/host-rules.ts";
import { AgentSandbox, type SandboxOptions } from "./agent-sandbox.ts";
import { createPrivateDirectory, type PrivateDirectory } from "./private-directory.ts";

/**
 * Opens the sandbox of an agent.
 * @returns the reason if this machine has no sandbox
 * @throws TeamError SPAWN_FAILED if the machine has a sandbox that fails here: a project's files must not be able to switch it off
 */
export async function openSandbox(options: SandboxOptions): Promise<AgentSandbox | NoSandbox> {
  const tool = await findSandbox(options.env);
  if ("reason" in tool) return tool;
  const { network } = options.setting;
  if (Array.isArray(network) && tool.kind === "bubblewrap" && tool.nsenter === undefined) {
    return {
      reason: "nsenter is not installed, and a list of hosts needs it",
      remedy: "Install util-linux, or set teams.sandbox.network to none.",
    };
  }
  const files = createPrivateDirectory();
  let opened: AgentSandbox | undefined;
  const token = tool.kind === "seatbelt" ? randomBytes(24).toString("hex") : undefined;
  try {
    const proxy = Array.isArray(network) ? await openProxy(network, options.env, files, token) : undefined;
    opened = new AgentSandbox({ ...options, tool, files, proxy, token });
    const problem = await opened.check();
    if (problem === undefined) return opened;
    await opened.close();
    return problem;
  } catch (error) {
    await opened?.close();
    files.remove();
    throw new TeamError(
      "SPAWN_FAILED",
      `The sandbox could not be set up: ${messageOf(error)}. No command was run.`,
      {
        hint: "Run teams doctor, and check the files that the message names. To work without a sandbox, set teams.sandbox.mode to off.",
        cause: error,
      },
    );
  }
}

async function openProxy(
  hosts: readonly string[],
  env: Env,
  { proxySocket }: PrivateDirectory,
  token: string | undefined,
): Promise<ConnectProxy> {
  const isNamed = (host: string): boolean =>
    hosts.some((pattern) => hostMatches(`domain:${pattern}`, plainHost(host), "every"));
  const { openConnectProxy } = await import("../../os/net/connect-proxy.ts");
  return openConnectProxy({
    listen: token === undefined ? { path: proxySocket } : "loopback",
    ...(token === undefined ? {} : { token }),
    env,
    mayReach: isNamed,
    // The owner of a public name decides where it leads, so the list must name a private address itself.
    mayConnect: (address, host) =>
      !isPrivateHost(plainHost(address)) || isPrivateHost(plainHost(host)) || isNamed(address),
  });
}
