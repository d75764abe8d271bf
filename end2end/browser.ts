/** The browser of the journeys and of the pictures: the Chromium that is there, without what reaches for the network. */
export const browser = {
  locale: "en-GB",
  timezoneId: "UTC",
  launchOptions: {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  },
};
