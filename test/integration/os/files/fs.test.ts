import { join } from "node:path";
import { expect, it } from "vitest";
import { makeOwnFifos } from "../../../../src/os/files/fifo.ts";
import { readFrom, readTail, readText, removeFile } from "../../../../src/os/files/fs.ts";
import { pending } from "../../../../src/team/mailbox/receive.ts";
import { deliver } from "../../../../src/team/mailbox/send.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testTeam } from "../../../support/team/test-team.ts";

it("a FIFO under the name of a file is read as an empty one, and lets nobody wait", async () => {
  const path = join(temporaryDirectory(), "fifo");
  await makeOwnFifos([path]);
  expect([readText(path), readFrom(path, 0)?.length, readTail(path, 10)]).toEqual(["", 0, ""]);
});

it("a message reaches an agent whose inbox somebody has made a FIFO", async () => {
  const ref = await testTeam(["dev"]);
  const inbox = ref.paths.inbox("dev");
  removeFile(inbox);
  await makeOwnFifos([inbox]);
  await deliver(ref, { from: "team-lead", to: "dev", text: "hello" });
  expect((await pending(ref, "dev")).map(({ message }) => message.text)).toEqual(["hello"]);
});
