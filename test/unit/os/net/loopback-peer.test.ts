import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { loopbackPeers, peerInode } from "../../../../src/os/net/loopback-peer.ts";

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 20 4 30 10 -1
   2: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 20 4 30 10 -1
   3: 0100007F:D432 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
`;

it("peerInode › finds the socket of the other end, if it is open", () => {
  const own = 0x1f90;
  expect(peerInode(TABLE, { peer: 0xd431, own })).toBe("13");
  expect(peerInode(TABLE, { peer: 0xd432, own })).toBeUndefined();
  expect(peerInode(TABLE, { peer: 1, own })).toBeUndefined();
  expect(peerInode("", { peer: 1, own })).toBeUndefined();
});

it.runIf(process.platform === "linux")("loopbackPeers › finds the process of a client", async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = (server.address() as AddressInfo).port;
  const socket = connect(own, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve));
  expect(loopbackPeers({ peer: socket.localPort ?? 0, own })).toContain(process.pid);
});
