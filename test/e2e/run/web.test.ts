import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it("WebFetch › reads a page of an allowed host as text, and of no other host", async () => {
  const asked: string[] = [];
  const server = createServer(({ headers, url }, response) => {
    asked.push(`${headers.host?.split(":")[0]}${url}`);
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<title>t</title><body><h1>Forty &amp; two</h1><p>See <a href='more'>more</a>.");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const fetch = (host: string, as: string) => ({
    name: "WebFetch",
    input: { url: `http://${host}:${port}/page` },
    as,
  });
  const own = privateTmux();
  const settings = { permissions: { allow: ["WebFetch", "WebFetch(domain:127.0.0.1)"] } };
  writeFileSync(join(own.root, "settings.json"), JSON.stringify(settings));
  const book = join(own.home, "book.json");
  const turns = [
    { tools: [fetch("127.0.0.1", "page"), fetch("localhost", "other")] },
    { say: "{{page.text}} / {{other}}" },
  ];
  writeFileSync(book, JSON.stringify({ version: 1, agents: { "team-lead": turns } }));
  const teams = teamsIn(own.env, own.home);
  const words = ["--permission-mode", "dontAsk", "--teammate-mode", "in-process", "--json"];
  const done = await teams(["run", "Read it.", "--playbook", book, ...words]);
  expect(done.err).toBe("");
  expect(done.json<{ result: string }>().result).toMatch(
    new RegExp(
      `^# Forty & two\\n\\nSee more \\(http://127\\.0\\.0\\.1:${port}/more\\)\\. / .*No rule names localhost`,
    ),
  );
  expect(asked).toEqual(["127.0.0.1/page"]);
});
