import { loopbackPeers } from "../../os/net/loopback-peer.ts";
import { connectionOf } from "../../os/net/loopback-server.ts";
import { ancestorEnv } from "../../os/process/ancestors.ts";
import { adoptedAddress } from "../../team/members/adopted-processes.ts";
import { AGENT } from "../select-team.ts";

/**
 * Returns whether a person's program sent a request over HTTP: its process is known, and was not started in the shell of an agent. An
 * agent may find the token of a server, and must not answer its own requests in place of a person. A program that also leaves the
 * agent's process tree is not recognized: only the sandbox stops it.
 */
export function isPersonsRequest(root: string, request: Request): boolean {
  const ports = connectionOf(request);
  const peers = ports === undefined ? [] : loopbackPeers(ports);
  return peers.length > 0 && !peers.some((pid) => belongsToAgent(root, pid));
}

function belongsToAgent(root: string, pid: number): boolean {
  const isAgent = ancestorEnv((variable) => Boolean(variable(AGENT)), pid) !== undefined;
  return isAgent || adoptedAddress(root, pid) !== undefined;
}
