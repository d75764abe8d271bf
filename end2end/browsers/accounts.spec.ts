import { join } from "node:path";
import { ANSWER, address, alive, ask, awake, fill, open } from "../drivers/talk.ts";
import { expect, test } from "../drivers/test.ts";
import { button, heading, link } from "../drivers/view.ts";
import { PASSWORD, token } from "../fixtures/accounts.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/accounts.yaml") } });

test("the first account is made, a user signs up, signs out and signs in again", async ({ server, view }) => {
  await view.tab.goto(server.url);
  await view.shows(heading("Create the first account"));
  await fill(view, { Token: await token(server), Name: "ada", Password: PASSWORD });
  await view.click(button("Create the account"));
  await expect.poll(async () => (await address(view)).pathname).not.toMatch(/^\/auth\//);
  await open(view, server.url);
  await signOut();
  await view.tab.goto(server.url);
  await view.click(link("Sign up"));
  await view.shows(button("Create the account"));
  await fill(view, { Name: "bob", Password: PASSWORD });
  await view.click(button("Create the account"));
  await alive(view);
  await ask(view, "Hello");
  const conversation = (await address(view)).href;
  await signOut();
  await view.tab.goto(conversation);
  await view.shows(heading("Sign in"));
  await fill(view, { Name: "bob", Password: "wrong words altogether" });
  await view.click(button("Sign in"));
  await view.says({ css: "[role=alert]" }, "The name or the password is wrong");
  await fill(view, { Name: "bob", Password: PASSWORD });
  await view.click(button("Sign in"));
  await expect.poll(async () => (await address(view)).href).toBe(conversation);
  await view.shows(ANSWER);

  async function signOut(): Promise<void> {
    await awake(view);
    await view.click(button("Account of", true));
    await view.click(button("Sign out"));
    await expect.poll(async () => (await address(view)).pathname).toMatch(/^\/auth\//);
  }
});
