import { join } from "node:path";
import { expect, it } from "vitest";
import { makeOwnFifos } from "../../../../src/os/files/fifo.ts";
import { readTail } from "../../../../src/os/files/file-parts.ts";
import { readFrom, readText, removeFile } from "../../../../src/os/files/fs.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testTeam } from "../../../support/team/test-team.ts";

it("file reads › treat a FIFO as an empty file and do not block", async () => {
  const path = join(temporaryDirectory(), "fifo");
  await makeOwnFifos([path]);
  expect([readText(path), readFrom(path, 0)?.length, readTail(path, 10)]).toEqual(["", 0, ""]);
});

it("inbox › accepts a message even if its file was replaced by a FIFO", async () => {
  const ref = await testTeam(["dev"]);
  const inbox = ref.paths.inbox("dev");
  removeFile(inbox);
  await makeOwnFifos([inbox]);
  await sendMessage(ref, { from: "team-lead", to: "dev", text: "hello" });
  expect((await unreadMessages(ref, "dev")).map(({ message }) => message.text)).toEqual(["hello"]);
});
