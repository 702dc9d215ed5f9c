import { join } from "node:path";
import { expect, it } from "vitest";
import { teamRef } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside, personOutside } from "../../support/tmux/terminal-user.ts";

it("status --watch › shows what fits, waiting requests first, scrolls, follows resizes, and leaves the scrollback alone", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  for (let i = 1; i <= 12; i += 1) await teams(["task", "add", `Task number ${i}`]);
  const ref = teamRef({ root: t.root, runtime: join(t.runtime, "teams") }, "crew");
  const asked = { kind: "question", from: "team-lead", summary: "Which port?", payload: {}, at: 1 } as const;
  openRequest(ref, { id: "ask-1", ...asked });
  const person = personInside(t, ["status", "--watch"], {
    size: { width: 60, height: 12 },
    env: { LC_ALL: "C.UTF-8" },
  });
  await person.sees(
    /^crew - .*0 of 12 tasks done\n\nWaiting for you:\n[^\n]*Which port\?[\s\S]*… \d+ below · q closes · j k scroll\s*$/,
  );
  await teams(["task", "done", "12"]);
  await person.sees("1 of 12 tasks done");
  person.type("G");
  await person.sees(/Task number 12[\s\S]*… \d+ above/);
  t.tmux("resize-window", "-t", person.pane, "-x", "60", "-y", "40");
  await person.sees(/^crew - [\s\S]*Task number 12\s*$/);
  expect(t.tmux("display-message", "-p", "-t", person.pane, "#{history_size}")).toBe("0");
  person.type("q");
  expect(await person.code()).toBe(0);
});

it("status --watch › appends each change on a dumb terminal", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  await teams(["task", "add", "Count the words"]);
  const person = personOutside(t, ["status", "--watch"], { env: { TERM: "dumb" } });
  await person.sees("0 of 1 task");
  await teams(["task", "done", "1"]);
  await person.sees(/0 of 1 task[\s\S]*1 of 1 task/);
  person.type("C-c");
  expect(await person.code()).toBe(130);
});
