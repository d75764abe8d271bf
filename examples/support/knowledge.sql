-- The articles that the agent searches. The database lives in memory: every start begins with all of them.
create table articles (
  id integer primary key,
  title text not null unique,
  body text not null
);

insert into articles (title, body) values
  ('Refunds',
   'A customer can ask for a refund within 30 days of paying. We return the full amount to the card or account that was charged; it arrives after three to five working days. After 30 days we offer credit for the unused time instead. Annual plans are refunded for the months that have not begun.'),
  ('Cancelling a subscription',
   'The owner of an account cancels it under Settings, Billing, Cancel plan. The plan stays usable until the end of the period that is paid for, and nothing is charged after that. The data is kept for 90 days, so that coming back needs no new set-up. Cancelling does not start a refund by itself.'),
  ('Invoices and receipts',
   'An invoice goes to the billing address by e-mail on the first day of each period, and every past one can be downloaded under Settings, Billing, Invoices. A company name or a tax number that is added later appears on new invoices; to correct an old one, send us its number.'),
  ('Changing the plan',
   'A larger plan starts at once, and the rest of the paid period is credited against its price. A smaller plan starts with the next period. If more people use the account than the smaller plan allows, remove some of them first; the page names how many.'),
  ('Resetting a password',
   'Choose "Forgot password" on the sign-in page and open the link in the e-mail within one hour. If no e-mail comes, look into the spam folder and check the spelling of the address. Accounts with single sign-on have no password here; ask the administrator of your company.'),
  ('Two-factor sign-in',
   'Turn it on under Settings, Security, and scan the code with an authenticator app. Keep the ten recovery codes in a safe place: each works once when the phone is lost. Without phone and codes, an owner of the account can switch it off for a member after checking who is asking.'),
  ('Exporting data',
   'Owners export everything under Settings, Data, Export. The archive holds one CSV file for each kind of record and all attachments. Large accounts take up to an hour; a link arrives by e-mail and works for seven days. The export can be repeated as often as you like.'),
  ('Response times of support',
   'Low and normal requests get an answer within two working days, high ones within eight working hours, and urgent ones within one hour, at night too. Urgent means that the product cannot be used at all or that data is at risk. Say which account it is about and what happened last before it failed.');
