import { openFilesOf } from "../process/open-files.ts";
import { processTable, readProc } from "../process/process-table.ts";

/** The two ports of a TCP connection on this machine. */
export interface ConnectionPorts {
  /** The port of the other end. */
  readonly peer: number;
  readonly own: number;
}

/**
 * Returns the processes of this user that hold the other end of a connection; none if the system does not show them, as on macOS.
 * Takes milliseconds.
 */
export function loopbackPeers(ports: ConnectionPorts): readonly number[] {
  const inode = peerInode(readProc("net/tcp") ?? "", ports);
  if (inode === undefined) return [];
  const socket = `socket:[${inode}]`;
  return processTable().flatMap(({ pid }) => (openFilesOf(pid).includes(socket) ? [pid] : []));
}

/** Finds the socket of the other end in the table of all IPv4 connections. */
export function peerInode(table: string, { peer, own }: ConnectionPorts): string | undefined {
  const port = (address = ""): number => Number.parseInt(address.split(":")[1] ?? "", 16);
  const rows = table.split("\n").map((row) => row.trim().split(/\s+/));
  const [, , , , , , , , , inode] =
    rows.find(([, local, remote]) => port(local) === peer && port(remote) === own) ?? [];
  // A closed connection has no inode.
  return inode === undefined || inode === "0" ? undefined : inode;
}
